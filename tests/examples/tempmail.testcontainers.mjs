// tempmail in a container, for suites in Node. Copy this file and tempmail.mjs beside your tests:
//   const tempmail = await startContainer();
// The image is TEMPMAIL_IMAGE, or tempmail. With TEMPMAIL_URL no container starts: the service is the one there.
import { GenericContainer, Wait, getContainerRuntimeClient } from 'testcontainers';
import { Tempmail } from './tempmail.mjs';

const [SMTP, HTTP] = [2525, 8080];

/** A container that is to start: change it as you need, as with `withNetwork`. */
export async function newContainer(image = process.env.TEMPMAIL_IMAGE ?? 'tempmail') {
  const { host } = (await getContainerRuntimeClient()).info.containerRuntime;
  return new GenericContainer(image)
    .withCommand(['serve', '--dev', '--trusted-network'])
    // It answers for this name only, beside those without a dot.
    .withEnvironment({ TEMPMAIL_HTTP_ALLOWED_HOSTS: host })
    .withExposedPorts(SMTP, HTTP)
    .withWaitStrategy(Wait.forHttp('/readyz', HTTP));
}

/** The service in a container, which runs until `stop`. */
export async function startContainer(container) {
  if (process.env.TEMPMAIL_URL) return Tempmail.start();
  const started = await (container ?? await newContainer()).start();
  const at = (port) => `${started.getHost()}:${started.getMappedPort(port)}`;
  return new Tempmail(`http://${at(HTTP)}`, at(SMTP), () => started.stop());
}
