/* A conversation of AMQP/Fast through the second Java client of 2005: log in, open a session, subscribe to a topic.
   It is of 0.8d5, whose HANDLE OPEN has a field more. Usage: java -cp CLASSES Fast HOST PORT. */

import org.openamq.client.AMQConnection;
import org.openamq.client.AMQDestination;

public class Fast {
    public static void main(String[] args) throws Exception {
        org.apache.log4j.BasicConfigurator.configure();
        AMQConnection connection =
            new AMQConnection(args[0], Integer.parseInt(args[1]), "guest", "guest", "witness", "/");
        // The client has no way to ask whether the login is over; its own examples wait longer.
        Thread.sleep(3000);
        org.openamq.jms.Session session = (org.openamq.jms.Session) connection.createSession(false, 1);
        System.out.println("session");
        session.createTopicConsumer(new AMQDestination("news", true), 100, false, true, false, false, "");
        System.out.println("consumer");
        System.exit(0);
    }
}
