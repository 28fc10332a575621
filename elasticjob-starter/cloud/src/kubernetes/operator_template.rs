//! The operator's template for all pods: a pod template of Kubernetes, to which the carrier adds what a job needs.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use serde_json::Value;

use super::names::CONTAINER;

/// A pod template.
#[derive(Debug, Clone, Default)]
pub(super) struct Template(PodTemplateSpec);

impl Template {
    /// Reads a template: an object with `metadata` and `spec`, of which nothing is required.
    ///
    /// # Errors
    /// The text says what is wrong with it.
    pub(super) fn parse(value: &Value) -> Result<Self, String> {
        let mut value = value.clone();
        let fields = value.as_object_mut().ok_or("it is no object with metadata and spec")?;
        if let Some(unknown) = fields.keys().find(|field| !["metadata", "spec"].contains(&field.as_str())) {
            return Err(format!("there is no field '{unknown}': a pod template has metadata and spec"));
        }
        if let Some(spec) = fields.get_mut("spec").and_then(Value::as_object_mut) {
            // The carrier adds the container, so it may be missing here.
            spec.entry("containers").or_insert_with(|| Value::Array(Vec::new()));
        }
        let spec: PodTemplateSpec = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let containers = spec.spec.iter().flat_map(|spec| &spec.containers);
        if let Some(other) = containers.map(|container| &container.name).find(|name| *name != CONTAINER) {
            // The item of a Job ends with its containers: a second one would keep it from ending.
            return Err(format!(
                "its container '{other}' would run beside the program: call the one of the program '{CONTAINER}', and make \
                 helpers initContainers with restartPolicy: Always"
            ));
        }
        if spec.spec.as_ref().is_some_and(|spec| spec.active_deadline_seconds.is_some()) {
            // A deadline that has passed is how the carrier stops a pod: one of the template would be told as a stop.
            return Err("it has 'activeDeadlineSeconds', by which the scheduler stops items: give jobs the property \
                 'script.timeout.milliseconds' for a time limit"
                .to_owned());
        }
        Ok(Self(spec))
    }

    pub(super) fn spec(&self) -> &PodTemplateSpec {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_template_needs_no_container() {
        let template = Template::parse(&json!({ "spec": { "serviceAccountName": "worker" } })).unwrap();
        assert_eq!(template.spec().spec.as_ref().unwrap().service_account_name.as_deref(), Some("worker"));
    }

    #[test]
    fn wrong_templates_are_told() {
        for (wrong, why) in [
            (json!([]), "no object"),
            (json!({ "kind": "Pod" }), "'kind'"),
            (json!({ "spec": { "nodeSelector": 3 } }), "invalid type"),
            (json!({ "spec": { "containers": [{ "name": "proxy" }] } }), "'proxy'"),
            (json!({ "spec": { "activeDeadlineSeconds": 3_600 } }), "script.timeout.milliseconds"),
        ] {
            let error = Template::parse(&wrong).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
