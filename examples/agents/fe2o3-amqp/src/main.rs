//! An agent for fe2o3-amqp: `cargo build --release --manifest-path examples/agents/fe2o3-amqp/Cargo.toml`, then
//! `amqpspec client -d amqp-1-0 --command examples/agents/fe2o3-amqp/target/release/agent --name fe2o3-amqp`.

use fe2o3_amqp::{
    connection::ConnectionHandle,
    link::receiver::CreditMode,
    session::SessionHandle,
    types::{definitions::SenderSettleMode, messaging::{Body, Data}, primitives::{Binary, Value as Any}},
    Connection, Receiver, Sender, Session,
};
use serde_json::{json, Value};
use std::{env, error::Error, process::exit, time::Duration};

type Done = Result<(), Box<dyn Error>>;

fn tell(event: &str, key: &str, value: Value) {
    println!("{}", json!({"event": event, key: value}));
}

async fn send(session: &mut SessionHandle<()>, queue: &str, bodies: &[Vec<u8>], settled: bool) -> Done {
    let mode = if settled { SenderSettleMode::Settled } else { SenderSettleMode::Unsettled };
    let mut sender = Sender::builder().name("out").target(queue).sender_settle_mode(mode).attach(session).await?;
    for (number, body) in bodies.iter().enumerate() {
        let outcome = sender.send(Body::<String>::Data(vec![Data(Binary::from(body.clone()))].into())).await?;
        outcome.accepted_or_else(|state| format!("the message was not accepted: {state:?}"))?;
        if !settled {
            tell("confirmed", "number", json!(number + 1));
        }
    }
    Ok(sender.close().await?)
}

async fn receive(session: &mut SessionHandle<()>, queue: &str, wanted: usize, rejects: bool) -> Done {
    let builder = Receiver::builder().name("in").source(queue).credit_mode(CreditMode::Manual);
    let mut receiver = builder.attach(session).await?;
    receiver.set_credit(wanted as u32).await?;
    for _ in 0..wanted {
        let delivery = receiver.recv::<Body<Any>>().await?;
        let octets: usize = match delivery.body() {
            Body::Data(batch) => batch.iter().map(|data| data.0.len()).sum(),
            _ => return Err("the body is not data".into()),
        };
        tell("delivered", "octets", json!(octets));
        match rejects {
            true => receiver.reject(&delivery, None).await?,
            false => receiver.accept(&delivery).await?,
        }
    }
    Ok(receiver.close().await?)
}

async fn work(connection: &mut ConnectionHandle<()>, name: &str, context: &Value) -> Done {
    let number = |key: &str| context[key].as_u64().unwrap() as usize;
    let queue = context["queue"].as_str().unwrap();
    let mut session = Session::begin(connection).await?;
    let bodies: Vec<Vec<u8>> = match name {
        "large" => vec![vec![7; number("large_octets")]],
        "reject" => vec![vec![65; number("octets")]],
        _ => (0..number("messages")).map(|n| vec![65 + n as u8 % 26; number("octets") + n]).collect(),
    };
    match name {
        "idle" => tokio::select! {
            error = session.on_end() => return Err(format!("the session has ended: {error:?}").into()),
            _ = tokio::time::sleep(Duration::from_secs(number("idle_s") as u64)) => {}
        },
        "refused" => match Sender::attach(&mut session, "out", "amq.nowhere").await {
            Err(error) => tell("error", "text", json!(error.to_string())),
            Ok(_) => return Err("the link was not refused".into()),
        },
        "send" | "send-settled" => send(&mut session, queue, &bodies, name == "send-settled").await?,
        "receive" | "reject" | "large" => {
            send(&mut session, queue, &bodies, false).await?;
            receive(&mut session, queue, bodies.len(), name == "reject").await?;
        }
        _ => {}
    }
    Ok(session.end().await?)
}

async fn once(name: &str, context: &Value) -> Done {
    let idle_ms = context["heartbeat_s"].as_u64().unwrap() as u32 * 1000;
    let builder = Connection::builder().container_id("agent").idle_time_out(idle_ms);
    let mut connection = builder.open(env::var("AMQPSPEC_URL")?.as_str()).await?;
    let done = work(&mut connection, name, context).await;
    let closed = connection.close().await;
    done?;
    Ok(closed?)
}

#[tokio::main]
async fn main() -> Done {
    let name = env::var("AMQPSPEC_SCENARIO")?;
    let context: Value = serde_json::from_str(&env::var("AMQPSPEC_CONTEXT")?)?;
    for _ in 0..if name == "reconnect" { 2 } else { 1 } {
        if let Err(error) = once(&name, &context).await {
            tell("error", "text", json!(error.to_string()));
            tokio::time::sleep(Duration::from_millis(500)).await; // The library may still be closing the connection.
            exit(1);
        }
    }
    Ok(())
}
