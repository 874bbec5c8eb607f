package tempmail

import (
	"context"
	"os"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// StartContainer lets a service run in a container until `stop`: copy this file beside tempmail.go, and call it in
// TestMain instead of Run. The image is TEMPMAIL_IMAGE, or tempmail. With TEMPMAIL_URL no container starts: the service
// is the one there. Options change the container, as network.WithNetwork does.
func StartContainer(ctx context.Context, options ...testcontainers.ContainerCustomizer) (stop func(), err error) {
	if URL != "" {
		return func() {}, nil
	}
	image := os.Getenv("TEMPMAIL_IMAGE")
	if image == "" {
		image = "tempmail"
	}
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return nil, err
	}
	defer provider.Close()
	host, err := provider.DaemonHost(ctx)
	if err != nil {
		return nil, err
	}
	options = append([]testcontainers.ContainerCustomizer{
		testcontainers.WithCmd("serve", "--dev", "--trusted-network"),
		// It answers for this name only, beside those without a dot.
		testcontainers.WithEnv(map[string]string{"TEMPMAIL_HTTP_ALLOWED_HOSTS": host}),
		testcontainers.WithExposedPorts("2525/tcp", "8080/tcp"),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/readyz").WithPort("8080/tcp")),
	}, options...)
	container, err := testcontainers.Run(ctx, image, options...)
	stop = func() { testcontainers.TerminateContainer(container) }
	if err == nil {
		URL, err = container.PortEndpoint(ctx, "8080/tcp", "http")
	}
	if err == nil {
		SMTP, err = container.PortEndpoint(ctx, "2525/tcp", "")
	}
	return stop, err
}
