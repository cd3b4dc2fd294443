import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.regex.Pattern;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import org.apache.qpid.client.AMQConnectionFactory;

/**
 * An agent for Qpid's JMS client of AMQP 0-10: {@code mvn -q -f examples/agents/qpid-client compile dependency:copy-dependencies}, then
 * {@code amqpspec client -d amqp-0-10 --batch --command "java -cp examples/agents/qpid-client/target/classes:examples/agents/qpid-client/target/dependency/* Agent" --name qpid-client}.
 * An instance is one task. With --batch tasks come as lines of JSON, without it the environment holds the only one.
 */
public class Agent {
    static final int CANNOT = 89;
    final String task;
    volatile boolean failed;

    Agent(String task) {
        this.task = task;
    }

    String text(String key) {
        var found = Pattern.compile("\"" + key + "\": *\"?([^\",}]*)").matcher(task);
        return found.find() ? found.group(1) : "";
    }

    void tell(String event, String key, Object value) {
        String clean = String.valueOf(value).replaceAll("[\"\\\\\\p{Cntrl}]", " ");
        String end = text("order").isEmpty() ? "" : ", \"order\": " + text("order");
        System.out.printf("{\"event\": \"%s\", \"%s\": %s%s}%n", event, key, value instanceof Integer ? clean : "\"" + clean + "\"", end);
        System.out.flush();
    }

    void learn(Throwable error) {
        tell("error", "text", error);
        failed = true;
    }

    void work(Session session, String scenario) throws JMSException {
        var queue = session.createQueue("BURL:direct://amq.direct//" + text("queue"));
        MessageConsumer consumer = session.createConsumer(queue); // It declares the queue.
        MessageProducer producer = session.createProducer(queue);
        int messages = scenario.equals("large") ? 1 : Integer.parseInt(text("messages"));
        for (int n = 0; n < messages; n++) {
            BytesMessage message = session.createBytesMessage();
            message.writeBytes(new byte[Integer.parseInt(text(scenario.equals("large") ? "large_octets" : "octets")) + n]);
            producer.send(message);
            if (scenario.equals("publish")) tell("confirmed", "number", n + 1);
        }
        if (session.getTransacted()) session.commit();
        if (scenario.startsWith("publish")) return;
        for (; messages > 0; messages--) {
            if (!(consumer.receive() instanceof BytesMessage message)) throw new JMSException("the consumer has ended");
            tell("delivered", "octets", (int) message.getBodyLength());
            message.acknowledge();
        }
        if (scenario.equals("get") && consumer.receiveNoWait() != null) throw new JMSException("the queue is not empty");
    }

    void session(String scenario) throws Exception {
        var place = Pattern.compile("amqp://[^@]*@([^/]*)/(.*)").matcher(text("url"));
        if (!place.matches()) throw new IOException("no URL: " + text("url"));
        String vhost = place.group(2).isEmpty() ? "/" : place.group(2).replace("%2F", "/");
        String broker = "tcp://" + place.group(1) + "?retries='0'&heartbeat='" + text("heartbeat_s") + "'";
        String options = "&failover='nofailover'&sync_publish='all'&maxprefetch='" + (scenario.equals("get") ? 1 : 100) + "'";
        Connection connection = new AMQConnectionFactory("amqp://guest:guest@agent/" + vhost + "?brokerlist='" + broker + "'" + options).createConnection();
        try {
            connection.setExceptionListener(this::learn);
            connection.start();
            boolean transacted = scenario.equals("publish-transactional");
            Session session = connection.createSession(transacted, transacted ? Session.SESSION_TRANSACTED : Session.CLIENT_ACKNOWLEDGE);
            if (scenario.equals("idle")) Thread.sleep(1000L * Integer.parseInt(text("idle_s")));
            else if (!scenario.endsWith("connect")) work(session, scenario);
            session.close();
        } finally {
            connection.close();
        }
    }

    int run() {
        String scenario = text("scenario");
        if (scenario.equals("return") || scenario.equals("refused")) return CANNOT; // JMS has nothing of the kind.
        try {
            for (int n = scenario.equals("reconnect") ? 2 : 1; n > 0; n--) session(scenario);
        } catch (Throwable error) {
            learn(error);
        }
        return failed ? 1 : 0;
    }

    static void batch() throws IOException {
        System.out.println("{\"event\": \"ready\"}");
        var tasks = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = tasks.readLine()) != null; ) {
            var agent = new Agent(line);
            agent.tell("done", "exit_code", agent.run());
        }
    }

    public static void main(String[] args) throws IOException {
        System.setProperty("qpid.amqp.version", "0-10");
        if (System.getenv("AMQPSPEC_BATCH") != null) {
            batch();
            System.exit(0);
        }
        String names = "{\"url\": \"%s\", \"scenario\": \"%s\", \"context\": %s}";
        System.exit(new Agent(names.formatted(System.getenv("AMQPSPEC_URL"), System.getenv("AMQPSPEC_SCENARIO"), System.getenv("AMQPSPEC_CONTEXT"))).run());
    }
}
