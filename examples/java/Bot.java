import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A complete Plyhouse bot: protocol v1 over the subprotocol plyhouse.v1+json, with the JDK alone.
 *
 * <p>Usage: java Bot --server URL --token TOKEN --seek GAME [--rated] [--bot NAME]
 * [--time-control T] [--matches N], or java Bot --stdio, which speaks by lines on standard input and output, as
 * programs do that a server hosts. Exit codes: 0 all matches played, 1 no server, 2 wrong options, 4 refused.
 */
public final class Bot implements WebSocket.Listener {
    private static final String USAGE = "usage: java Bot --server URL --token TOKEN --seek GAME "
        + "[--rated] [--bot NAME]\n                [--time-control T] [--matches N]\n"
        + "       java Bot --stdio";
    private static final int FIRST_ATTEMPTS = 6;
    private static final Set<String> FATAL = Set.of(
        "auth/bad_token", "auth/revoked", "auth/disabled", "auth/scope", "auth/bad_name",
        "auth/limit", "auth/replaced", "protocol/version");

    private final Map<String, String> options;
    /** True if messages are lines of standard input and output instead of a websocket. */
    private final boolean stdio;
    private final Random random = new SecureRandom();
    /** The seats that we have in running matches. */
    private final Map<String, Integer> seats = new HashMap<>();
    private final Set<String> over = new TreeSet<>();
    private final Map<Integer, String> requests = new HashMap<>();
    private final StringBuilder partial = new StringBuilder();
    private volatile CompletableFuture<String> closed = new CompletableFuture<>();
    private volatile WebSocket socket;
    /** When the server was last heard, by {@code System.nanoTime}. */
    private volatile long heard;
    /** The time in milliseconds after which a silent server counts as gone. */
    private volatile long patience = 10_000;
    private String session = "";
    private int lastId;
    private int failures;
    private boolean seeking;
    private boolean leaving;

    private Bot(Map<String, String> options) {
        this.options = options;
        this.stdio = Boolean.parseBoolean(options.get("stdio"));
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = new HashMap<>(Map.of(
            "server", "http://127.0.0.1:8765", "bot", "java", "time-control", "move:2",
            "matches", "1", "seek", "", "token", "", "rated", "false", "stdio", "false"));
        for (int i = 0; i < arguments.length; i++) {
            String name = arguments[i].replaceFirst("^--", "");
            if (name.equals("help")) quit(0, USAGE);
            if (name.equals("rated") || name.equals("stdio")) {
                options.put(name, "true");
                continue;
            }
            if (i + 1 == arguments.length || !options.containsKey(name)) {
                quit(2, "unknown or incomplete option: " + arguments[i] + "\n" + USAGE);
            }
            options.put(name, arguments[++i]);
        }
        Bot bot = new Bot(options);
        if (bot.stdio) {
            bot.serve();
            return;
        }
        if (options.get("token").isEmpty()) quit(2, "give the token of your player with --token");
        bot.run();
    }

    // ------------------------------------------------------------------------ the connection

    /** Connects, and connects again after every break, waiting longer each time. */
    private void run() throws InterruptedException {
        String address = options.get("server").replaceFirst("^http", "ws") + "/ws";
        HttpClient client = HttpClient.newHttpClient();
        while (true) {
            closed = new CompletableFuture<>();
            String why;
            try {
                client.newWebSocketBuilder().subprotocols("plyhouse.v1+json")
                    .buildAsync(URI.create(address), this).get(10, TimeUnit.SECONDS);
                why = lost();
            } catch (Exception error) {
                why = String.valueOf(error.getMessage());
            }
            if (leaving) quit(0, "all matches played");
            failures++;
            if (session.isEmpty() && failures >= FIRST_ATTEMPTS) {
                quit(1, "no Plyhouse server at " + address + ": " + why);
            }
            long longest = Math.min(30_000, 500L << Math.min(failures - 1, 6));
            long wait = longest / 2 + random.nextLong(longest / 2 + 1);
            log("connection lost (" + why + "); next attempt in " + wait + " ms");
            Thread.sleep(wait);
        }
    }

    /** Speaks by lines until the input ends. The runner fills in who we are, and answers pings. */
    private void serve() throws IOException {
        request("hello", Map.of("client", "java-example/1.0"));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            receive(map(Json.parse(line)));
        }
    }

    /** Waits until the connection is lost and returns the reason. */
    private String lost() throws Exception {
        while (true) {
            try {
                return closed.get(500, TimeUnit.MILLISECONDS);
            } catch (TimeoutException waiting) {
                // The JDK does not report every connection that ends without a closing frame.
                if (System.nanoTime() - heard > patience * 1_000_000) {
                    WebSocket silent = socket;
                    socket = null;
                    silent.abort();
                    return "the server is silent";
                }
            }
        }
    }

    @Override
    public void onOpen(WebSocket opened) {
        socket = opened;
        heard = System.nanoTime();
        requests.clear();
        partial.setLength(0);
        seeking = false; // the server withdraws the seeks of a lost connection
        request("hello", Map.of(
            "token", options.get("token"), "bot", options.get("bot"),
            "games", seeks() ? List.of(options.get("seek")) : List.of(), "client", "java-example/1.0",
            // The server may not have noticed yet that the old connection is gone.
            "session", session, "takeover", !session.isEmpty()));
        opened.request(1);
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
        if (from != socket) return null; // of a connection that was given up
        heard = System.nanoTime();
        partial.append(data);
        if (last) {
            String frame = partial.toString();
            partial.setLength(0);
            try {
                receive(map(Json.parse(frame)));
            } catch (CompletionException error) { // it was lost while we answered
                closed.complete(String.valueOf(error.getMessage()));
                return null;
            } catch (RuntimeException error) { // a mistake in this bot: show where
                error.printStackTrace();
                quit(1, "cannot handle " + frame);
            }
        }
        from.request(1);
        return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
        if (from == socket) closed.complete("code " + code + " " + reason);
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
        if (from == socket) closed.complete(String.valueOf(error.getMessage()));
    }

    /** Sends a request; the answer has its id in {@code re}. */
    private void request(String type, Map<String, ?> fields) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("type", type);
        message.put("id", ++lastId);
        message.putAll(fields);
        requests.put(lastId, type);
        send(message);
    }

    private void send(Map<String, ?> message) {
        if (stdio) {
            byte[] line = (Json.write(message) + "\n").getBytes(StandardCharsets.UTF_8);
            System.out.write(line, 0, line.length);
            System.out.flush();
            return;
        }
        socket.sendText(Json.write(message), true).orTimeout(10, TimeUnit.SECONDS).join();
    }

    // --------------------------------------------------------------------------- the messages

    private void receive(Map<String, Object> message) {
        String answered = requests.remove(number(message, "re"));
        switch (text(message, "type")) {
            case "welcome" -> welcome(message);
            case "ping" -> send(Map.of("type", "pong", "re", message.get("id")));
            case "match" -> enter(map(message.get("snapshot")));
            case "turn" -> play(
                text(message, "match"), number(message, "ply"), map(message.get("observation")));
            case "finished" -> finished(text(message, "match"), map(message.get("outcome")));
            case "error" -> refused(message, answered);
            case "notice" -> log("notice " + text(message, "message"));
            // The challenger chooses the clock, so rated matches come by our own seeks only.
            case "challenged" -> request("answer", Map.of("challenge", message.get("challenge"),
                "accept", !Boolean.TRUE.equals(message.get("rated"))));
            default -> { } // ok, accepted, update, and messages of newer servers
        }
    }

    private void welcome(Map<String, Object> message) {
        log("connected as " + text(message, "player") + "/" + text(message, "bot"));
        session = text(message, "session");
        patience = 2 * number(message, "heartbeat_ms") + 1000;
        failures = 0;
        Set<String> running = new TreeSet<>();
        for (Object snapshot : list(message.get("matches"))) {
            running.add(text(map(snapshot), "match"));
            enter(map(snapshot));
        }
        for (String match : new ArrayList<>(seats.keySet())) {
            if (!running.contains(match)) { // it ended while we were away
                finished(match, Map.of("termination", "unknown"));
            }
        }
        seek();
    }

    private boolean seeks() {
        return !options.get("seek").isEmpty();
    }

    /** Asks for the matches that are missing. */
    private void seek() {
        int missing = Integer.parseInt(options.get("matches")) - over.size() - seats.size();
        if (seeking || missing <= 0 || !seeks()) return;
        seeking = true;
        request("seek", Map.of(
            "game", options.get("seek"), "time_control", options.get("time-control"),
            "rated", Boolean.valueOf(options.get("rated")), "count", missing));
    }

    /** Takes a match as the server shows it: at its beginning, or after a reconnect. */
    private void enter(Map<String, Object> snapshot) {
        String match = text(snapshot, "match");
        if (over.contains(match)) return;
        seats.put(match, Math.max(0, number(snapshot, "seat")));
        String status = text(snapshot, "status");
        if (status.equals("finished")) {
            finished(match, map(snapshot.get("outcome")));
        } else if (status.equals("waiting")) {
            // Our part of the randomness: with it, the server alone cannot choose the dice.
            byte[] nonce = new byte[16];
            random.nextBytes(nonce);
            request("ready", Map.of("match", match, "nonce", HexFormat.of().formatHex(nonce)));
        } else if (Boolean.TRUE.equals(snapshot.get("your_turn"))) {
            play(match, Math.max(0, number(snapshot, "ply")), map(snapshot.get("observation")));
        }
    }

    private void play(String match, int ply, Map<String, Object> observation) {
        request("act", Map.of("match", match, "ply", Math.max(0, ply), "action", choose(observation)));
    }

    /** Chooses an action: your bot begins here. This one plays at random, in every game. */
    private String choose(Map<String, Object> observation) {
        List<Object> legal = list(observation.get("legal"));
        return (String) legal.get(random.nextInt(legal.size()));
    }

    private void finished(String match, Map<String, Object> outcome) {
        Integer seat = seats.remove(match);
        if (seat == null || !over.add(match)) return;
        List<Object> returns = list(outcome.get("returns"));
        Object own = seat < returns.size() ? returns.get(seat) : "?";
        log("finished " + match + ": " + text(outcome, "termination") + ", we got " + own);
        if (stdio) return; // the input ends when nothing is left to play
        if (over.size() >= Integer.parseInt(options.get("matches")) && seats.isEmpty()) {
            leaving = true;
            request("bye", Map.of());
        }
    }

    private void refused(Map<String, Object> error, String request) {
        String shown = text(error, "code") + ": " + text(error, "message");
        boolean login = "hello".equals(request);
        if (FATAL.contains(text(error, "code")) || (login && session.isEmpty())) quit(4, shown);
        if (login) { // the server lacks its database, say: our matches wait
            WebSocket refusing = socket;
            socket = null;
            refusing.abort();
            closed.complete(shown);
            return;
        }
        if ("seek".equals(request)) quit(1, "cannot seek: " + shown);
        log("refused " + request + ": " + shown); // a late answer, for instance
    }

    // ------------------------------------------------------------------------- fields of JSON

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value) {
        return value == null ? Map.of() : (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(Object value) {
        return value == null ? List.of() : (List<Object>) value;
    }

    private static String text(Map<String, Object> message, String field) {
        return message.get(field) instanceof String found ? found : "";
    }

    /** Returns a whole number; 0 if the field is missing, because that is every default. */
    private static int number(Map<String, Object> message, String field) {
        return message.get(field) instanceof Double found ? found.intValue() : 0;
    }

    private void log(String line) {
        (stdio ? System.err : System.out).println(line); // standard output has the messages
    }

    private static void quit(int code, String line) {
        (code == 0 ? System.out : System.err).println(line);
        System.exit(code);
    }
}
