use std::rc::Rc;

use elasticjob::api::ShardingContext;
use elasticjob::elastic_job;

struct Order;
struct Row;

struct OtherData;

#[elastic_job]
impl OtherData {
    async fn fetch(_context: ShardingContext) -> Vec<Row> {
        vec![]
    }

    async fn process(_orders: Vec<Order>) {}
}

struct OtherReturns;

#[elastic_job]
impl OtherReturns {
    async fn fetch() -> Option<Order> {
        None
    }

    async fn process(_orders: Vec<Order>) {}
}

struct OtherResult;

#[elastic_job]
impl OtherResult {
    async fn fetch() -> Vec<Order> {
        vec![]
    }

    async fn process(_orders: Vec<Order>) -> usize {
        7
    }
}

struct NotSend;

#[elastic_job]
impl NotSend {
    async fn fetch(context: ShardingContext) -> Vec<Order> {
        let count = Rc::new(1);
        context.cancelled().await;
        drop(count);
        vec![]
    }

    async fn process(_orders: Vec<Order>) {}
}

struct OtherArgument;

#[elastic_job]
impl OtherArgument {
    async fn fetch(_rows: Row) -> Vec<Order> {
        vec![]
    }

    async fn process(_orders: Vec<Order>) {}
}

fn main() {}
