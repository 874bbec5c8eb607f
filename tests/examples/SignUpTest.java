import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Tempmail.Extension.class)
class SignUpTest {
    /** The status of the answer. */
    private static int post(String path, String form) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(System.getenv("APP_URL") + path))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(form))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode();
    }

    @Test
    void signUp(Tempmail.Inbox inbox) throws Exception {
        post("/sign-up", "email=" + inbox.address());
        String code = inbox.waitForCode();
        assertEquals(200, post("/confirm", "email=" + inbox.address() + "&code=" + code));
    }

    @Test
    void signUpInPrivate() throws Exception {
        try (var inbox = Tempmail.start().inbox(true)) {
            signUp(inbox);
        }
    }

    @Test
    void welcome(Tempmail.Inbox inbox) throws Exception {
        post("/sign-up", "email=" + inbox.address());
        String id = Tempmail.strings("id", inbox.waitForMail("&subject=welcome")).get(0);
        assertTrue(Tempmail.strings("id", inbox.list("&from=no-reply@")).contains(id));
        assertTrue(inbox.read(id).contains("founded"));
        assertEquals("https://app.test/verify?token=8f2a3c4d5e6b", inbox.waitForLink());
        inbox.delete(id);
        assertEquals(0, Tempmail.strings("id", inbox.list("&subject=welcome")).size());
    }
}
