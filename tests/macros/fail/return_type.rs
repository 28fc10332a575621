use elasticjob::elastic_job;

struct Failure;

#[elastic_job]
async fn returns_a_number() -> u32 {
    7
}

#[elastic_job]
async fn error_cannot_be_shown() -> Result<(), Failure> {
    Err(Failure)
}

fn main() {}
