// Text, 300 kB, an acknowledgement, a local transaction, by JMS; qpid.amqp.version says in which AMQP.
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TextMessage;
import org.apache.qpid.client.AMQConnectionFactory;

public class Jms {
    static final long WAIT_MS = 20_000;

    public static void main(String[] given) throws Exception {
        Connection connection = new AMQConnectionFactory(given[0]).createConnection();
        connection.start();
        Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
        Queue queue = session.createQueue(given[1]);
        MessageConsumer consumer = session.createConsumer(queue);
        MessageProducer producer = session.createProducer(queue);
        TextMessage text = session.createTextMessage("text \u00e9");
        text.setStringProperty("colour", "red");
        producer.send(text);
        BytesMessage bytes = session.createBytesMessage();
        bytes.writeBytes(new byte[300_000]);
        producer.send(bytes);
        TextMessage first = (TextMessage) consumer.receive(WAIT_MS);
        BytesMessage second = (BytesMessage) consumer.receive(WAIT_MS);
        second.acknowledge();
        System.out.println(first.getText() + " " + first.getStringProperty("colour") + " " + second.getBodyLength());
        session.close();

        Session work = connection.createSession(true, Session.SESSION_TRANSACTED);
        MessageProducer sender = work.createProducer(queue);
        MessageConsumer receiver = work.createConsumer(queue);
        sender.send(work.createTextMessage("taken back"));
        work.rollback();
        sender.send(work.createTextMessage("committed"));
        work.commit();
        TextMessage third = (TextMessage) receiver.receive(WAIT_MS);
        work.commit();
        System.out.println(third.getText());
        work.close();
        connection.close();
        System.out.println("done");
    }
}
