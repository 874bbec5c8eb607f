import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PrivateInboxTest {
    private static final String APP_URL = System.getenv("APP_URL");
    private static final String TEMPMAIL_URL = System.getenv("TEMPMAIL_URL");
    private final HttpClient client = HttpClient.newHttpClient();
    private String address;
    private String key;

    @BeforeEach
    void open() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(TEMPMAIL_URL + "/api/addresses"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"forSeconds\": 600}"))
                .build();
        String lease = client.send(request, BodyHandlers.ofString()).body();
        address = URLEncoder.encode(first("address", lease), StandardCharsets.UTF_8);
        key = first("key", lease);
    }

    @AfterEach
    void close() throws Exception {
        ask("DELETE", "/api/addresses?address=" + address);
    }

    /** The JSON of an answer with status 200. A wait in vain has 204. */
    private String ask(String method, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(TEMPMAIL_URL + path))
                .header("Authorization", "Bearer " + key)
                .method(method, BodyPublishers.noBody())
                .build();
        var answer = client.send(request, BodyHandlers.ofString());
        assertEquals(200, answer.statusCode(), path);
        return answer.body();
    }

    /** The status of the answer. */
    private int post(String path, String form) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(APP_URL + path))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(form))
                .build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }

    /** The first string of this name. A suite that has a JSON library reads it with that. */
    private static String first(String name, String json) {
        Matcher matcher = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
        assertEquals(true, matcher.find(), name);
        return matcher.group(1);
    }

    @Test
    void signUp() throws Exception {
        post("/sign-up", "email=" + address);
        String mail = ask("GET", "/api/mail/wait?has=code&timeout=60&to=" + address);
        String code = first("code", mail.substring(mail.indexOf("\"codes\":[")));
        assertEquals(200, post("/confirm", "email=" + address + "&code=" + code));
    }
}
