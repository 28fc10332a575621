use elasticjob::elastic_job;

#[elastic_job(
    crom = "0/5 * * * * ?",
    cron = "0 0 25 * * ?",
    time_zone = "Asia/Shangai",
    sharding_total_count = 2,
    params = "0=a,2=c",
    failover = 1,
    name = "a/b",
)]
fn everything_is_wrong<T>(#[bean] _value: &T) {}

// The function is there nevertheless: no error follows from the ones above.
fn main() {
    everything_is_wrong(&1);
}
