import java.util.Optional;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * tempmail in a container. Copy this file and Tempmail.java beside your tests:
 * {@code Tempmail.Inbox inbox = TempmailContainer.service().inbox(false);}
 *
 * <p>The image is TEMPMAIL_IMAGE, or tempmail. With TEMPMAIL_URL no container starts: the service is the one there.
 */
public class TempmailContainer extends GenericContainer<TempmailContainer> {
    private static final int SMTP = 2525;
    private static final int HTTP = 8080;
    private static TempmailContainer shared;

    /** A container that is to start: change it as you need, as with {@code withNetwork}. */
    public TempmailContainer() {
        super(DockerImageName.parse(Optional.ofNullable(System.getenv("TEMPMAIL_IMAGE")).orElse("tempmail")));
        withCommand("serve", "--dev", "--trusted-network");
        // It answers for this name only, beside those without a dot.
        withEnv("TEMPMAIL_HTTP_ALLOWED_HOSTS", DockerClientFactory.instance().dockerHostIpAddress());
        withExposedPorts(SMTP, HTTP);
        waitingFor(Wait.forHttp("/readyz").forPort(HTTP));
    }

    /** The service in this container, which has started. */
    public Tempmail tempmail() {
        String smtp = getHost() + ":" + getMappedPort(SMTP);
        return new Tempmail("http://" + getHost() + ":" + getMappedPort(HTTP), smtp);
    }

    /** The service in a container that all tests of this JVM share. It ends with the JVM. */
    public static synchronized Tempmail service() throws Exception {
        if (System.getenv("TEMPMAIL_URL") != null) {
            return Tempmail.start();
        }
        if (shared == null) {
            shared = new TempmailContainer();
            shared.start();
        }
        return shared.tempmail();
    }
}
