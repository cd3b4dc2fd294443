import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.net.URI;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.qpid.jms.JmsConnectionFactory;

/**
 * An agent for Qpid JMS, AMQP 1.0: {@code mvn -q -f examples/agents/qpid-jms compile dependency:copy-dependencies}, then
 * {@code amqpspec client --dialect amqp-1-0 --batch --command "java -cp examples/agents/qpid-jms/target/classes:examples/agents/qpid-jms/target/dependency/* Agent" --name qpid-jms}.
 * An instance is one task. With --batch tasks come as lines of JSON, without it the environment holds the only one.
 */
public class Agent {
    static final int REJECTED = 2; // Of the library's property JMS_AMQP_ACK_TYPE.
    final String task;
    final String order;
    final String scenario;
    final String queue;
    volatile boolean failed;

    Agent(String task) {
        this.task = task;
        order = text("order");
        scenario = text("scenario");
        queue = text("queue");
    }

    String text(String key) {
        var found = Pattern.compile("\"" + key + "\": *\"?([^\",}]*)").matcher(task);
        return found.find() ? found.group(1) : "";
    }

    int number(String key) {
        return Integer.parseInt(text(key));
    }

    void tell(String event, String key, Object value) {
        String clean = String.valueOf(value).replaceAll("[\"\\\\\\p{Cntrl}]", " ");
        String end = order.isEmpty() ? "" : ", \"order\": " + order;
        System.out.printf("{\"event\": \"%s\", \"%s\": %s%s}%n", event, key, value instanceof Integer ? clean : "\"" + clean + "\"", end);
        System.out.flush();
    }

    void learn(Throwable error) {
        tell("error", "text", error);
        failed = true;
    }

    List<byte[]> bodies() {
        if (scenario.equals("large")) return List.of(new byte[number("large_octets")]);
        var bodies = new ArrayList<byte[]>();
        for (int n = 0; n < (scenario.equals("reject") ? 1 : number("messages")); n++) {
            byte[] body = new byte[number("octets") + n];
            Arrays.fill(body, (byte) (65 + n % 26));
            bodies.add(body);
        }
        return bodies;
    }

    void send(Session session, List<byte[]> sent) throws JMSException {
        try (var producer = session.createProducer(session.createQueue(queue))) {
            for (int n = 0; n < sent.size(); n++) {
                BytesMessage message = session.createBytesMessage();
                message.writeBytes(sent.get(n));
                producer.send(message); // Returns once the message is accepted.
                tell("confirmed", "number", n + 1);
            }
        }
    }

    void receive(Session session, int wanted) throws Exception {
        try (var consumer = session.createConsumer(session.createQueue(queue))) {
            for (; wanted > 0; wanted--) {
                Message message = consumer.receive();
                if (message == null) throw new IllegalStateException("the consumer has ended");
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(message.getBody(byte[].class));
                tell("delivered", "sha256", String.format("%064x", new BigInteger(1, digest)));
                if (scenario.equals("reject")) message.setIntProperty("JMS_AMQP_ACK_TYPE", REJECTED);
                message.acknowledge();
            }
        }
    }

    void refused(Session session) {
        try {
            session.createProducer(session.createQueue("amq.nowhere"));
        } catch (JMSException error) {
            tell("error", "text", error);
        }
    }

    void work(Session session) throws Exception {
        var sent = bodies();
        send(session, sent);
        if (!scenario.startsWith("send")) receive(session, sent.size());
    }

    void session(JmsConnectionFactory factory) throws Exception {
        try (Connection connection = factory.createConnection()) {
            connection.setExceptionListener(this::learn);
            connection.start();
            Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
            switch (scenario) {
                case "connect", "reconnect" -> { }
                case "idle" -> Thread.sleep(1000L * number("idle_s"));
                case "refused" -> refused(session);
                default -> work(session);
            }
            session.close();
        }
    }

    int run() {
        try {
            var url = URI.create(text("url"));
            String[] user = url.getUserInfo().split(":");
            String options = "amqp.idleTimeout=%d&jms.prefetchPolicy.all=%d&jms.presettlePolicy.presettleProducers=%b";
            options = options.formatted(1000 * number("heartbeat_s"), bodies().size(), scenario.equals("send-settled"));
            var factory = new JmsConnectionFactory(user[0], user[1], "amqp://%s:%d?%s".formatted(url.getHost(), url.getPort(), options));
            for (int n = scenario.equals("reconnect") ? 2 : 1; n > 0; n--) session(factory);
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
        if (System.getenv("AMQPSPEC_BATCH") != null) {
            batch();
            return;
        }
        String names = "{\"url\": \"%s\", \"scenario\": \"%s\", \"context\": %s}";
        String task = names.formatted(System.getenv("AMQPSPEC_URL"), System.getenv("AMQPSPEC_SCENARIO"), System.getenv("AMQPSPEC_CONTEXT"));
        System.exit(new Agent(task).run());
    }
}
