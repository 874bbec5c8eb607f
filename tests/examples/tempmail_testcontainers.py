"""tempmail in a container, for suites in Python. Copy this file and tempmail_pytest.py beside your tests:

    with TempmailContainer() as tempmail:
        inbox = tempmail.inbox()

The image is TEMPMAIL_IMAGE, or tempmail. With TEMPMAIL_URL no container starts: the service is the one there.
As the fixture `tempmail` of conftest.py it is the service of the fixture `inbox`.
"""

import os

from tempmail_pytest import Tempmail
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

SMTP, HTTP = 2525, 8080


class TempmailContainer:
    """A container that is to start: change `container` as you need, as with `with_network`."""

    def __init__(self, image=None):
        self.container = None
        if "TEMPMAIL_URL" not in os.environ:
            self.container = DockerContainer(image or os.environ.get("TEMPMAIL_IMAGE", "tempmail"))
            self.container.with_command("serve --dev --trusted-network").with_exposed_ports(SMTP, HTTP)
            # It answers for this name only, beside those without a dot.
            self.container.with_env("TEMPMAIL_HTTP_ALLOWED_HOSTS", self.container.get_docker_client().host())
            self.container.waiting_for(HttpWaitStrategy(HTTP, "/readyz"))

    def __enter__(self):
        if self.container is None:
            return Tempmail()
        self.container.start()
        host, mapped = self.container.get_container_host_ip(), self.container.get_exposed_port
        smtp, http = (f"{host}:{mapped(port)}" for port in (SMTP, HTTP))
        return Tempmail(f"http://{http}", smtp)

    def __exit__(self, *_):
        if self.container:
            self.container.stop()
