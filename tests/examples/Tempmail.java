import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.support.TypeBasedParameterResolver;

/**
 * Inboxes of tempmail for JUnit 5. Copy this file beside your tests, with their package: a class with
 * {@code @ExtendWith(Tempmail.Extension.class)} gets a new {@code Tempmail.Inbox} for each parameter of a test.
 *
 * <p>The service is that of TEMPMAIL_URL, with a token or key in TEMPMAIL_TOKEN if it needs one. Without it one runs
 * until the JVM ends: TEMPMAIL_BIN, or tempmail in PATH. It takes mail at {@link #smtp}.
 */
public record Tempmail(String url, String smtp) {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Pattern READY =
            Pattern.compile("\"message\":\"ready\".*\"smtp\":\"([^\",]+).*\"http\":\"([^\",]+)");
    private static Tempmail service;

    /** The service of TEMPMAIL_URL, or one for all tests of this JVM. */
    public static synchronized Tempmail start() throws Exception {
        if (service == null) {
            String url = System.getenv("TEMPMAIL_URL");
            service = url == null ? startOwn() : new Tempmail(url, System.getenv("TEMPMAIL_SMTP"));
        }
        return service;
    }

    private static Tempmail startOwn() throws Exception {
        String program = Optional.ofNullable(System.getenv("TEMPMAIL_BIN")).orElse("tempmail");
        File directory = Files.createTempDirectory("tempmail-").toFile();
        Process process = new ProcessBuilder(program, "serve", "--dev", "--log-format", "json", "--smtp-listen",
                "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--data-dir", directory + "/data").start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            process.destroy();
            process.onExit().join();
            delete(directory);
        }));
        var log = process.errorReader();
        Matcher ready = log.lines().peek(System.err::println).map(READY::matcher).filter(Matcher::find).findFirst()
                .orElseThrow(() -> new IllegalStateException("tempmail does not start"));
        CompletableFuture.runAsync(() -> log.lines().forEach(more -> { }));
        return new Tempmail("http://" + ready.group(2), ready.group(1));
    }

    private static void delete(File file) {
        for (File inner : Optional.ofNullable(file.listFiles()).orElse(new File[0])) {
            delete(inner);
        }
        file.delete();
    }

    /** A new address. Only its key and the administrator read the mail of a private one, which lives for an hour. */
    public Inbox inbox(boolean isPrivate) throws Exception {
        String token = System.getenv("TEMPMAIL_TOKEN");
        String made = isPrivate ? ask("POST", "/api/addresses", token, "{\"forSeconds\": 3600}")
                : ask("GET", "/api/addresses/random", token, "");
        String key = strings("key", made).stream().findFirst().orElse(token);
        return new Inbox(this, strings("address", made).get(0), key, isPrivate);
    }

    /** The JSON of an answer, empty if it has no content. */
    public String ask(String method, String path, String key, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url + path)).method(method, BodyPublishers.ofString(body));
        request.header("Content-Type", "application/json");
        if (key != null) {
            request.header("Authorization", "Bearer " + key);
        }
        var answer = CLIENT.send(request.build(), BodyHandlers.ofString());
        if (answer.statusCode() >= 300) {
            throw new AssertionError(method + " " + path + ": " + answer.statusCode() + " " + answer.body());
        }
        return answer.body();
    }

    /** All strings of this name in order. A suite that has a JSON library reads them with that. */
    public static List<String> strings(String name, String json) {
        Pattern pattern = Pattern.compile("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*)\"");
        return pattern.matcher(json).results().map(found -> found.group(1)).toList();
    }

    /** The mail of one address. Filters are more of a query, as {@code "&subject=welcome&timeout=10"}. */
    public record Inbox(Tempmail service, String address, String key, boolean isPrivate) implements AutoCloseable {
        /** The JSON of the oldest mail that passes the filters. Fails after {@code timeout} seconds, by default 60. */
        public String waitForMail(String filters) throws Exception {
            String query = address + filters + (filters.contains("timeout=") ? "" : "&timeout=60");
            String mail = service.ask("GET", "/api/mail/wait?to=" + query, key, "");
            if (mail.isEmpty()) {
                throw new AssertionError("no such mail for " + address + filters);
            }
            return mail;
        }

        /** The best code of the oldest mail that has one. */
        public String waitForCode() throws Exception {
            return strings("code", waitForMail("&has=code").split("\"codes\":", 2)[1]).get(0);
        }

        /** The best link of the oldest mail that has one. */
        public String waitForLink() throws Exception {
            return strings("url", waitForMail("&has=link").split("\"links\":", 2)[1]).get(0);
        }

        /** The JSON of the newest hundred mails, newest first, without details. */
        public String list(String filters) throws Exception {
            return service.ask("GET", "/api/mail/messages?limit=100&to=" + address + filters, key, "");
        }

        /** The JSON of one mail, with its text, headers, codes, links and attachments. */
        public String read(String id) throws Exception {
            return service.ask("GET", "/api/mail/messages/" + id, key, "");
        }

        /** Deletes one mail. */
        public void delete(String id) throws Exception {
            service.ask("DELETE", "/api/mail/delete?id=" + id, key, "");
        }

        /** Ends a private inbox, or deletes all mail of a public one. */
        @Override
        public void close() throws Exception {
            service.ask("DELETE", (isPrivate ? "/api/addresses?address=" : "/api/mail/delete?to=") + address, key, "");
        }
    }

    /** Gives a test a new Inbox for each parameter of this type. */
    public static class Extension extends TypeBasedParameterResolver<Inbox> {
        @Override
        public Inbox resolveParameter(ParameterContext parameter, ExtensionContext context) {
            try {
                return start().inbox(false);
            } catch (Exception error) {
                throw new ParameterResolutionException("no inbox", error);
            }
        }
    }
}
