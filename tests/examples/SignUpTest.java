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
import org.junit.jupiter.api.Test;

class SignUpTest {
    private static final String APP_URL = System.getenv("APP_URL");
    private static final String TEMPMAIL_URL = System.getenv("TEMPMAIL_URL");
    private final HttpClient client = HttpClient.newHttpClient();

    /** The JSON of an answer with status 200. A wait in vain has 204. */
    private String get(String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(TEMPMAIL_URL + path)).build();
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
        String address = first("address", get("/api/addresses/random"));
        String encoded = URLEncoder.encode(address, StandardCharsets.UTF_8);
        post("/sign-up", "email=" + encoded);

        String mail = get("/api/mail/wait?has=code&timeout=60&to=" + encoded);
        String code = first("code", mail.substring(mail.indexOf("\"codes\":[")));
        assertEquals(200, post("/confirm", "email=" + encoded + "&code=" + code));
    }
}
