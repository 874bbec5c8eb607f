//! The compose file of the cluster guide, read by Python's YAML parser.
//! Promise: it outlives the code below it.

use std::collections::BTreeSet;
use std::process::Command;

use tempmail::config::settings;

use crate::support::files::file;
use crate::support::programs;

/// Resolves a compose file, checks what it refers to, and prints the variables of the service's own containers.
const CHECK: &str = r#"
import sys, yaml
file = yaml.safe_load(sys.stdin)
assert set(file) - {"services", "volumes"} == {"x-cassandra", "x-tempmail"}, list(file)
known = {"image", "environment", "entrypoint", "command", "healthcheck", "volumes", "depends_on", "ports", "restart"}
services = file["services"]
for name, service in services.items():
    assert set(service) <= known, (name, set(service) - known)
    for other, wanted in service.get("depends_on", {}).items():
        healthy = "healthcheck" in services[other]
        assert wanted["condition"] == ("service_healthy" if healthy else "service_completed_successfully"), (name, other)
    for volume in service.get("volumes", []):
        assert volume.split(":")[0] in file["volumes"], (name, volume)
    for port in service.get("ports", []):
        outer, inner = map(int, port.split(":"))
ports = [port.split(":")[0] for service in services.values() for port in service.get("ports", [])]
assert len(ports) == len(set(ports)) == 6, ports
images = [service["image"] for service in services.values()]
assert images.count("tempmail") == 3 and sum(image.startswith("cassandra:5") for image in images) == 3, images
for service in services.values():
    if service["image"] == "tempmail":
        print(*service["environment"], sep="\n")
"#;

#[test]
#[ignore = "needs Python's yaml"]
fn the_compose_file_of_the_cluster_guide_is_whole() {
    let cluster = file("man/guide/cluster.md");
    let [_, rest] = cluster.split("\n```yaml\n").collect::<Vec<_>>()[..] else { panic!("one file") };
    let (file, _) = rest.split_once("\n```").expect("its end");
    let output = programs::run(Command::new(programs::find("python3")).args(["-c", CHECK]), file);
    let variables = String::from_utf8(output.stdout).expect("UTF-8");
    let variables: BTreeSet<&str> = variables.lines().collect();
    assert!(variables.contains("TEMPMAIL_STORE"), "{variables:?}");
    for variable in variables {
        let key = variable.strip_prefix("TEMPMAIL_").expect("a setting").to_lowercase().replace('_', "-");
        assert!(settings().any(|setting| setting.key == key), "{variable} is no setting");
    }
}
