import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import com.rabbitmq.client.impl.DefaultExceptionHandler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;

/**
 * An agent for RabbitMQ's Java client: {@code mvn -q -f examples/agents/java compile dependency:copy-dependencies}, then
 * {@code amqpspec client --batch --command "java -cp examples/agents/java/target/classes:examples/agents/java/target/dependency/* Agent" --name java}.
 * An instance is one task. With --batch tasks come as lines of JSON, without it the environment holds the only one.
 */
public class Agent {
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

    void received(byte[] body) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
        tell("delivered", "sha256", String.format("%064x", new BigInteger(1, digest)));
    }

    List<byte[]> bodies() {
        if (scenario.equals("large")) return List.of(new byte[number("large_octets")]);
        var bodies = new ArrayList<byte[]>();
        for (int n = 0; n < number("messages"); n++) {
            byte[] body = new byte[number("octets") + n];
            Arrays.fill(body, (byte) (65 + n % 26));
            bodies.add(body);
        }
        return bodies;
    }

    void receive(Channel channel, int wanted) throws Exception {
        var deliveries = new LinkedBlockingQueue<Optional<Delivery>>();
        String tag = channel.basicConsume(queue, false, (t, delivery) -> deliveries.add(Optional.of(delivery)),
            t -> deliveries.add(Optional.empty()), (t, signal) -> deliveries.add(Optional.empty()));
        for (; wanted > 0; wanted--) {
            Delivery delivery = deliveries.take().orElseThrow(() -> new IOException("the consumer has ended"));
            received(delivery.getBody());
            channel.basicAck(delivery.getEnvelope().getDeliveryTag(), false);
        }
        channel.basicCancel(tag);
    }

    void get(Channel channel, int wanted) throws Exception {
        for (; wanted > 0; wanted--) {
            GetResponse message = channel.basicGet(queue, false);
            received(message.getBody());
            channel.basicAck(message.getEnvelope().getDeliveryTag(), false);
        }
        if (channel.basicGet(queue, false) != null) throw new IOException("the queue is not empty");
    }

    void refused(Channel channel) throws IOException {
        try {
            channel.queueDeclarePassive("amqpspec.nowhere");
        } catch (IOException error) {
            boolean known = error.getCause() instanceof ShutdownSignalException s && s.getReason() instanceof AMQP.Channel.Close c && c.getReplyCode() == 404;
            if (!known) throw error;
            tell("error", "code", 404);
        }
    }

    void returned(Channel channel) throws Exception {
        channel.addReturnListener(message -> tell("returned", "code", message.getReplyCode()));
        channel.confirmSelect();
        channel.basicPublish("", "amqpspec.nobody", true, null, "back".getBytes());
        channel.waitForConfirmsOrDie();
    }

    void work(Channel channel) throws Exception {
        channel.queueDeclare(queue, false, true, false, null);
        if (scenario.equals("publish")) channel.confirmSelect();
        if (scenario.equals("publish-transactional")) channel.txSelect();
        var sent = bodies();
        for (byte[] body : sent) channel.basicPublish("", queue, null, body);
        switch (scenario) {
            case "publish" -> channel.waitForConfirmsOrDie();
            case "publish-transactional" -> channel.txCommit();
            case "consume", "large" -> receive(channel, sent.size());
            case "get" -> get(channel, sent.size());
        }
    }

    void session(ConnectionFactory factory) throws Exception {
        try (Connection connection = factory.newConnection()) {
            Channel channel = connection.createChannel();
            switch (scenario) {
                case "connect", "reconnect" -> { }
                case "idle" -> Thread.sleep(1000L * number("idle_s"));
                case "refused" -> refused(channel);
                case "return" -> returned(channel);
                default -> work(channel);
            }
            if (!scenario.equals("refused")) channel.close();
        }
    }

    int run() {
        var factory = new ConnectionFactory();
        factory.setExceptionHandler(new DefaultExceptionHandler() {
            @Override
            protected void log(String message, Throwable error) {
                learn(error);
            }
        });
        try {
            factory.setUri(text("url").replaceFirst("/$", ""));
            factory.setRequestedHeartbeat(number("heartbeat_s"));
            factory.setAutomaticRecoveryEnabled(false); // One session is one connection.
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
