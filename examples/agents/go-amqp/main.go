// An agent for go-amqp, AMQP 1.0: `go build -C examples/agents/go-amqp`, then
// `amqpspec client --dialect amqp-1-0 --command examples/agents/go-amqp/agent --name go-amqp`.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/Azure/go-amqp"
)

var task struct {
	Queue       string
	Messages    int
	Octets      int
	LargeOctets int `json:"large_octets"`
	HeartbeatS  int `json:"heartbeat_s"`
	IdleS       int `json:"idle_s"`
}

var background = context.Background()

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

func bodies(name string) [][]byte {
	if name == "large" {
		body := make([]byte, task.LargeOctets)
		rand.Read(body)
		return [][]byte{body}
	}
	found := [][]byte{}
	for n := 0; n < task.Messages; n++ {
		found = append(found, bytes.Repeat([]byte{byte(65 + n%26)}, task.Octets+n))
	}
	if name == "reject" {
		return found[:1]
	}
	return found
}

func send(session *amqp.Session, sent [][]byte, mode amqp.SenderSettleMode) {
	sender, err := session.NewSender(background, task.Queue, &amqp.SenderOptions{SettlementMode: mode.Ptr()})
	check(err)
	for n, body := range sent {
		check(sender.Send(background, amqp.NewMessage(body), nil))
		tell("confirmed", map[string]any{"number": n + 1})
	}
	check(sender.Close(background))
}

func receive(session *amqp.Session, wanted int, rejecting bool) {
	receiver, err := session.NewReceiver(background, task.Queue, &amqp.ReceiverOptions{Credit: int32(wanted)})
	check(err)
	for ; wanted > 0; wanted-- {
		message, err := receiver.Receive(background, nil)
		check(err)
		body := message.GetData()
		tell("delivered", map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(body)), "octets": len(body)})
		if rejecting {
			check(receiver.RejectMessage(background, message, nil))
		} else {
			check(receiver.AcceptMessage(background, message))
		}
	}
	check(receiver.Close(background))
}

func refused(session *amqp.Session) {
	_, err := session.NewSender(background, "amq.nowhere", nil)
	var refusal *amqp.LinkError
	if !errors.As(err, &refusal) {
		check(err)
		check(errors.New("the link is there"))
	}
	tell("error", map[string]any{"text": refusal.Error(), "scope": "link"})
}

func scenario(name string, connection *amqp.Conn, session *amqp.Session) {
	switch name {
	case "idle":
		select {
		case <-connection.Done():
			check(errors.Join(connection.Err(), errors.New("the connection has ended")))
		case <-time.After(time.Duration(task.IdleS) * time.Second):
		}
	case "refused":
		refused(session)
	case "send":
		send(session, bodies(name), amqp.SenderSettleModeUnsettled)
	case "send-settled":
		send(session, bodies(name), amqp.SenderSettleModeSettled)
	case "receive", "large", "reject":
		sent := bodies(name)
		send(session, sent, amqp.SenderSettleModeUnsettled)
		receive(session, len(sent), name == "reject")
	}
}

func connect(name string) {
	options := amqp.ConnOptions{IdleTimeout: time.Duration(task.HeartbeatS) * time.Second}
	connection, err := amqp.Dial(background, os.Getenv("AMQPSPEC_URL"), &options)
	check(err)
	session, err := connection.NewSession(background, nil)
	check(err)
	scenario(name, connection, session)
	check(session.Close(background))
	check(connection.Close())
}

func main() {
	check(json.Unmarshal([]byte(os.Getenv("AMQPSPEC_CONTEXT")), &task))
	name := os.Getenv("AMQPSPEC_SCENARIO")
	connect(name)
	if name == "reconnect" {
		connect(name)
	}
}
