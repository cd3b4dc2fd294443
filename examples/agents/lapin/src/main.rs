//! An agent for lapin: `cargo build --release --manifest-path examples/agents/lapin/Cargo.toml`, then
//! `amqpspec client --command examples/agents/lapin/target/release/agent --name lapin`.

use futures_lite::StreamExt;
use lapin::{
    BasicProperties, Channel, Connection, ConnectionProperties, Event,
    message::Delivery,
    options::*,
    types::FieldTable,
};
use serde_json::{Value, json};
use std::{env, error::Error, process::exit, time::Duration};

type Done = Result<(), Box<dyn Error>>;

fn tell(event: &str, key: &str, value: Value) {
    println!("{}", json!({"event": event, key: value}));
}

async fn received(delivery: &Delivery) -> Done {
    tell("delivered", "octets", json!(delivery.data.len()));
    if !delivery.ack(BasicAckOptions::default()).await? {
        return Err("the message could not be acknowledged".into());
    }
    Ok(())
}

async fn receive(channel: &Channel, queue: &str, wanted: usize) -> Done {
    let mut consumer = channel
        .basic_consume(queue.into(), "agent".into(), BasicConsumeOptions::default(), FieldTable::default())
        .await?;
    for _ in 0..wanted {
        received(&consumer.next().await.ok_or("the consumer has ended")??).await?;
    }
    Ok(channel.basic_cancel("agent".into(), BasicCancelOptions::default()).await?)
}

async fn get(channel: &Channel, queue: &str, wanted: usize) -> Done {
    for _ in 0..wanted {
        let message = channel.basic_get(queue.into(), BasicGetOptions::default()).await?;
        received(&message.ok_or("the queue is empty")?.delivery).await?;
    }
    match channel.basic_get(queue.into(), BasicGetOptions::default()).await? {
        Some(_) => Err("the queue is not empty".into()),
        None => Ok(()),
    }
}

async fn publish(channel: &Channel, key: &str, mandatory: bool, body: &[u8]) -> Done {
    let options = BasicPublishOptions { mandatory, ..Default::default() };
    let confirm = channel.basic_publish("".into(), key.into(), options, body, BasicProperties::default()).await?.await?;
    if confirm.is_nack() {
        return Err("a message was not confirmed".into());
    }
    if let Some(message) = confirm.take_message() {
        tell("returned", "code", json!(message.reply_code));
    }
    Ok(())
}

async fn refused(channel: &Channel) -> Done {
    let options = QueueDeclareOptions { passive: true, ..Default::default() };
    match channel.queue_declare("amqpspec.nowhere".into(), options, FieldTable::default()).await {
        Err(error) => match error.kind() {
            lapin::ErrorKind::ProtocolError(refusal) if refusal.get_id() == 404 => {
                tell("error", "code", json!(404));
                Ok(())
            }
            _ => Err(error.into()),
        },
        Ok(_) => Ok(()),
    }
}

async fn idle(connection: &Connection, seconds: u64) -> Done {
    let mut events = connection.events_listener();
    let failure = async {
        loop {
            match events.next().await {
                Some(Event::Error(error)) => return Err(error.into()),
                Some(_) => {}
                None => return Err("the connection has ended".into()),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(seconds), failure).await.unwrap_or(Ok(()))
}

async fn work(channel: &Channel, name: &str, context: &Value) -> Done {
    let number = |key: &str| context[key].as_u64().unwrap() as usize;
    let queue = context["queue"].as_str().unwrap();
    let options = QueueDeclareOptions { exclusive: true, ..Default::default() };
    channel.queue_declare(queue.into(), options, FieldTable::default()).await?;
    match name {
        "publish" => channel.confirm_select(ConfirmSelectOptions::default()).await?,
        "publish-transactional" => channel.tx_select().await?,
        _ => {}
    }
    let bodies = match name {
        "large" => vec![vec![0; number("large_octets")]],
        _ => (0..number("messages")).map(|n| vec![65 + n as u8 % 26; number("octets") + n]).collect(),
    };
    for body in &bodies {
        publish(channel, queue, false, body).await?;
    }
    match name {
        "publish-transactional" => Ok(channel.tx_commit().await?),
        "consume" | "large" => receive(channel, queue, bodies.len()).await,
        "get" => get(channel, queue, bodies.len()).await,
        _ => Ok(()),
    }
}

async fn session(name: &str, context: &Value) -> Done {
    let url = format!("{}?heartbeat={}", env::var("AMQPSPEC_URL")?, context["heartbeat_s"]);
    let connection = Connection::connect(&url, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    match name {
        "connect" | "reconnect" => {}
        "idle" => idle(&connection, context["idle_s"].as_u64().unwrap()).await?,
        "refused" => refused(&channel).await?,
        "return" => {
            channel.confirm_select(ConfirmSelectOptions::default()).await?;
            publish(&channel, "amqpspec.nobody", true, b"back").await?;
        }
        _ => work(&channel, name, context).await?,
    }
    if name != "refused" {
        channel.close(200, "done".into()).await?;
    }
    Ok(connection.close(200, "done".into()).await?)
}

#[tokio::main]
async fn main() -> Done {
    let name = env::var("AMQPSPEC_SCENARIO")?;
    let context: Value = serde_json::from_str(&env::var("AMQPSPEC_CONTEXT")?)?;
    for _ in 0..if name == "reconnect" { 2 } else { 1 } {
        if let Err(error) = session(&name, &context).await {
            tell("error", "text", json!(error.to_string()));
            tokio::time::sleep(Duration::from_millis(500)).await; // The library may still be closing the connection.
            exit(1);
        }
    }
    Ok(())
}
