//! Checks the values of the options, alone and in combination.

mod kind;
mod schedule;

use elasticjob_syntax::{item_parameters, node_name, zone_name};
use syn::LitStr;

use crate::args::{JobArgs, Value};
use crate::errors::Errors;

/// Adds the errors of the options to `errors`, each at its literal or name. `job` is the kind of the job, as
/// `elastic_job_type` names it.
pub fn check(args: &JobArgs, job: &str, errors: &mut Errors) {
    if let Some(name) = &args.name {
        report(name, node_name::check_job_name(&name.value()), errors);
    }
    if let Some(cron) = args.text("cron") {
        report(cron, schedule::check(&cron.value()), errors);
    }
    if let Some(zone) = args.text("time_zone") {
        report(zone, zone_name::parse(&zone.value()), errors);
    }
    if let Some(parameters) = args.text("sharding_item_parameters") {
        let total = match args.get("sharding_total_count") {
            Some(Value::Count(total)) => Some(*total),
            _ => None,
        };
        for problem in item_parameters::checked(&parameters.value(), total).filter_map(Result::err) {
            errors.on(parameters, problem.to_string());
        }
    }
    if let (Some(Value::Flag(failover)), Some(Value::Flag(monitored))) =
        (args.get("failover"), args.get("monitor_execution"))
        && failover.value
        && !monitored.value
    {
        let message = "`failover` needs `monitor_execution`: only what is monitored is known to have been cut off";
        errors.on(failover, message);
    }
    if let (Some(_), Some(kind)) = (args.text("elastic_job_class"), args.text("elastic_job_type")) {
        errors.on(kind, "a job has either `elastic_job_class` or `elastic_job_type`");
    }
    if let Some(kind) = args.text("elastic_job_type") {
        report(kind, kind::check(&kind.value(), job), errors);
    }
    if let Some(Value::Props(props)) = args.get("props") {
        for (key, value) in props {
            report(value, kind::check_prop(&key.value(), &value.value(), job), errors);
        }
    }
}

fn report<T>(literal: &LitStr, checked: Result<T, impl ToString>, errors: &mut Errors) {
    if let Err(problem) = checked {
        errors.on(literal, problem.to_string());
    }
}
