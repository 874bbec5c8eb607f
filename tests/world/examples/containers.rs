//! The examples for the engines and services that run containers.
//! Promise: it outlives the code below it.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};
use tempmail::config::settings;
use tokio::task::block_in_place;

use crate::support::files::{file, path};
use crate::support::http;
use crate::support::program::Program;
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
fn the_compose_file_of_a_cluster_is_whole() {
    let cluster = file("tests/examples/compose.cluster.yaml");
    let output = programs::run(Command::new(programs::find("python3")).args(["-c", CHECK]), &cluster);
    let variables = String::from_utf8(output.stdout).expect("UTF-8");
    let variables: BTreeSet<&str> = variables.lines().collect();
    assert!(variables.contains("TEMPMAIL_STORE"), "{variables:?}");
    for variable in variables {
        let key = variable.strip_prefix("TEMPMAIL_").expect("a setting").to_lowercase().replace('_', "-");
        assert!(settings().any(|setting| setting.key == key), "{variable} is no setting");
    }
}

/// The facts of the recipe that the files repeat, as JSON, in which the words of the check stand.
fn recipe() -> Value {
    let text = file(".package/Containerfile");
    let only = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).expect(name);
    let words = |line: &str| serde_json::from_str::<Value>(&line[line.find('[').expect("words")..]).expect("JSON");
    json!({
        "user": only("USER "),
        "volume": only("VOLUME "),
        "ports": only("EXPOSE ").split(' ').collect::<Vec<_>>(),
        "health": words(only("HEALTHCHECK ")),
        "command": words(only("CMD ")),
    })
}

/// Each file of the examples has the schema of who reads it, and says of the image what the recipe says.
const CHECK_EXAMPLES: &str = r#"
import json, pathlib, shlex, subprocess, sys, yaml
recipe = json.load(sys.stdin)
bin = pathlib.Path(sys.executable).parent
schemas = {"compose.yaml": "compose-spec", "compose.cluster.yaml": "compose-spec", "github.yml": "github-workflows",
    "gitlab.yml": "gitlab-ci"}
for name, schema in schemas.items():
    subprocess.run([bin / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", name], check=True)
subprocess.run([bin / "kubernetes-validate", "--strict", "kubernetes.yaml"], check=True)
serve = recipe["command"] + ["--dev", "--trusted-network"]
ports = recipe["ports"]

compose = yaml.safe_load(open("compose.yaml"))
service = compose["services"]["tempmail"]
assert compose["services"]["app"]["depends_on"] == {"tempmail": {"condition": "service_healthy"}}
assert shlex.split(service["command"]) == serve, service
assert service["healthcheck"]["test"] == ["CMD", *recipe["health"]], service
assert service["volumes"] == [f"tempmail:{recipe['volume']}"] and "tempmail" in compose["volumes"], service
assert [port.split(":")[0::2] for port in service["ports"]] == [["127.0.0.1", port] for port in ports], service

job = yaml.safe_load(open("github.yml"))["jobs"]["test"]
service = job["services"]["tempmail"]
assert service["ports"] == [f"{port}:{port}" for port in ports], service
assert shlex.split(service["options"])[:2] == ["--health-cmd", shlex.join(recipe["health"])], service
assert [f"127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}"] == [job["env"]["TEMPMAIL_SMTP"], job["env"]["TEMPMAIL_URL"]], job
variables = service["env"]

[service] = yaml.safe_load(open("gitlab.yml"))["test"]["services"]
assert service["command"] == serve and service["alias"] == "tempmail", service
given = yaml.safe_load(open("gitlab.yml"))["test"]["variables"]
assert given == {"TEMPMAIL_URL": f"http://tempmail:{ports[1]}", "TEMPMAIL_SMTP": f"tempmail:{ports[0]}"}, given

deployment, claim, service = yaml.safe_load_all(open("kubernetes.yaml"))
pod = deployment["spec"]["template"]["spec"]
assert ":".join(str(pod["securityContext"][id]) for id in ["runAsUser", "runAsGroup"]) == recipe["user"], pod
[container] = pod["containers"]
assert container["args"] == serve, container
assert [str(port["containerPort"]) for port in container["ports"]] == ports, container
assert [container[probe]["exec"]["command"] for probe in ["startupProbe", "readinessProbe"]] == [recipe["health"]] * 2
assert container["volumeMounts"] == [{"name": "data", "mountPath": recipe["volume"]}], container
assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
assert [str(port["port"]) for port in service["spec"]["ports"]] == ports, service
assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
probe = container["livenessProbe"]["httpGet"]
print(json.dumps({"probe": [probe["path"], probe["httpHeaders"][0]["value"]],
    "variables": [variable["name"] for variable in container["env"]] + list(variables)}))
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs tests/fixtures/install.sh"]
async fn the_examples_for_containers_are_valid_and_true_of_the_recipe() {
    let mut command = Command::new(path("target/fixtures/python/bin/python"));
    command.args(["-c", CHECK_EXAMPLES]).current_dir(path("tests/examples"));
    let output = programs::run(&mut command, &recipe().to_string());
    let last = String::from_utf8(output.stdout).expect("UTF-8").lines().last().expect("what it found").to_owned();
    let found: Value = serde_json::from_str(&last).expect("JSON");
    for variable in found["variables"].as_array().expect("variables") {
        let key = variable.as_str().expect("a name").trim_start_matches("TEMPMAIL_").to_lowercase().replace('_', "-");
        assert!(settings().any(|setting| setting.key == key), "{variable} is no setting");
    }
    // The probe reaches the address of the pod, which no Host that the recipe permits names.
    let daemon = block_in_place(|| Program::fresh(&["--http-allowed-hosts", "localhost"]));
    let [probed, host] = ["/probe/0", "/probe/1"].map(|at| found.pointer(at).and_then(Value::as_str).expect("a text"));
    for (host, status) in [("10.1.2.3:8080", 421), (host, 200)] {
        let request = http::client().get(format!("http://{}{probed}", daemon.http)).header("Host", host);
        assert_eq!(request.send().await.expect("an answer").status(), status, "{host}");
    }
    daemon.stop();
}
