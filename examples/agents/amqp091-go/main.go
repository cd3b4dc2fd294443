// An agent for amqp091-go: `go build -C examples/agents/amqp091-go`, then
// `amqpspec client --command examples/agents/amqp091-go/agent --name amqp091-go`.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var context struct {
	Queue       string
	Messages    int
	Octets      int
	LargeOctets int `json:"large_octets"`
	HeartbeatS  int `json:"heartbeat_s"`
	IdleS       int `json:"idle_s"`
}

func tell(event string, data map[string]any) {
	line := map[string]any{"event": event}
	for key, value := range data {
		line[key] = value
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		tell("error", map[string]any{"text": err.Error()})
		time.Sleep(500 * time.Millisecond) // The library may still be closing the connection.
		os.Exit(1)
	}
}

func taken(delivery amqp.Delivery) {
	tell("delivered", map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(delivery.Body)), "octets": len(delivery.Body)})
	check(delivery.Ack(false))
}

func receive(channel *amqp.Channel, wanted int) {
	deliveries, err := channel.Consume(context.Queue, "agent", false, false, false, false, nil)
	check(err)
	for ; wanted > 0; wanted-- {
		delivery, ok := <-deliveries
		if !ok {
			check(errors.New("the consumer has ended"))
		}
		taken(delivery)
	}
	check(channel.Cancel("agent", false))
}

func confirmed(confirms []*amqp.DeferredConfirmation) {
	for _, confirm := range confirms {
		if confirm != nil && !confirm.Wait() {
			check(errors.New("a message was not confirmed"))
		}
	}
}

func bodies(name string) [][]byte {
	if name == "large" {
		return [][]byte{make([]byte, context.LargeOctets)}
	}
	found := [][]byte{}
	for n := 0; n < context.Messages; n++ {
		found = append(found, bytes.Repeat([]byte{byte(65 + n%26)}, context.Octets+n))
	}
	return found
}

func publish(channel *amqp.Channel, key string, mandatory bool, sent ...[]byte) {
	confirms := []*amqp.DeferredConfirmation{}
	for _, body := range sent {
		confirm, err := channel.PublishWithDeferredConfirm("", key, mandatory, false, amqp.Publishing{Body: body})
		check(err)
		confirms = append(confirms, confirm)
	}
	confirmed(confirms)
}

func scenario(name string, channel *amqp.Channel, closed chan *amqp.Error) {
	switch name {
	case "connect", "reconnect":
		return
	case "idle":
		select {
		case <-closed:
			check(errors.New("the connection has ended"))
		case <-time.After(time.Duration(context.IdleS) * time.Second):
		}
		return
	case "refused":
		_, err := channel.QueueDeclarePassive("amqpspec.nowhere", false, false, false, false, nil)
		var refusal *amqp.Error
		if errors.As(err, &refusal) && refusal.Code == amqp.NotFound {
			tell("error", map[string]any{"code": refusal.Code, "scope": "channel"})
			return
		}
		check(err)
		return
	case "return":
		returns := channel.NotifyReturn(make(chan amqp.Return, 1))
		check(channel.Confirm(false))
		publish(channel, "amqpspec.nobody", true, []byte("back"))
		returned, ok := <-returns
		if !ok {
			check(errors.New("no return"))
		}
		tell("returned", map[string]any{"code": returned.ReplyCode})
		return
	}
	_, err := channel.QueueDeclare(context.Queue, false, false, true, false, nil)
	check(err)
	switch name {
	case "publish":
		check(channel.Confirm(false))
	case "publish-transactional":
		check(channel.Tx())
	}
	sent := bodies(name)
	publish(channel, context.Queue, false, sent...)
	switch name {
	case "publish-transactional":
		check(channel.TxCommit())
	case "consume", "large":
		receive(channel, len(sent))
	case "get":
		for range sent {
			delivery, ok, err := channel.Get(context.Queue, false)
			check(err)
			if !ok {
				check(errors.New("the queue is empty"))
			}
			taken(delivery)
		}
	}
}

func ended(reasons chan *amqp.Error) {
	for reason := range reasons { // The library closes it; an error is there before.
		check(reason)
	}
}

func session(name string) {
	heartbeat := time.Duration(context.HeartbeatS) * time.Second
	connection, err := amqp.DialConfig(os.Getenv("AMQPSPEC_URL"), amqp.Config{Heartbeat: heartbeat})
	check(err)
	closed := connection.NotifyClose(make(chan *amqp.Error, 1))
	channel, err := connection.Channel()
	check(err)
	failed := channel.NotifyClose(make(chan *amqp.Error, 1))
	scenario(name, channel, closed)
	if name != "refused" {
		check(channel.Close())
		ended(failed)
	}
	check(connection.Close())
}

func main() {
	check(json.Unmarshal([]byte(os.Getenv("AMQPSPEC_CONTEXT")), &context))
	name := os.Getenv("AMQPSPEC_SCENARIO")
	session(name)
	if name == "reconnect" {
		session(name)
	}
}
