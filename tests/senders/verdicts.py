#!/usr/bin/env python3
"""The same verdicts about signed mail as dkimpy, and about the addresses of clients as pyspf, over a DNS server of this test."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "openapi"))

from daemon import PROGRAM, ROOT, Daemon, installed  # noqa: E402

ENVIRONMENT = ROOT / "target" / "senders"

if __name__ == "__main__":
    if "--use" not in sys.argv:
        program = sys.argv[1] if len(sys.argv) > 1 else PROGRAM
        python = installed("python", HERE / "requirements.txt", ENVIRONMENT)
        sys.exit(subprocess.run([python, __file__, "--use", program]).returncode)

import base64  # noqa: E402
import json  # noqa: E402
import random  # noqa: E402
import re  # noqa: E402
import socket  # noqa: E402
import socketserver  # noqa: E402
import tempfile  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import urllib.request  # noqa: E402

import dkim  # noqa: E402
import dns.flags  # noqa: E402
import dns.message  # noqa: E402
import dns.rcode  # noqa: E402
import dns.rrset  # noqa: E402
import nacl.exceptions  # noqa: E402
import nacl.signing  # noqa: E402
import spf  # noqa: E402
from cryptography.hazmat.primitives import serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: E402

SIGNED, POLICIES, CHAINS = 360, 200, 24
ADDRESS = "hello@example.test"
RANDOM = random.Random(20251114)
# Names in lower case, with the texts of each kind of record; None for a server that fails.
ZONE = {}


class Handler(socketserver.BaseRequestHandler):
    def answer(self, octets):
        query = dns.message.from_wire(octets)
        question = query.question[0]
        name, kind = question.name.to_text(omit_final_dot=True).lower(), dns.rdatatype.to_text(question.rdtype)
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        records = ZONE.get(name, {})
        if records is None:
            response.set_rcode(dns.rcode.SERVFAIL)
        elif records.get(kind):
            response.answer.append(dns.rrset.from_text_list(question.name, 60, "IN", kind, records[kind]))
        else:
            response.set_rcode(dns.rcode.NOERROR if records else dns.rcode.NXDOMAIN)
            response.authority.append(dns.rrset.from_text(".", 60, "IN", "SOA", ". . 1 60 60 60 60"))
        return response

    def handle(self):
        octets, server = self.request
        response = self.answer(octets)
        wire = response.to_wire(max_size=65535)
        if len(wire) > 1200:
            response.answer, response.flags = [], response.flags | dns.flags.TC
            wire = response.to_wire()
        server.sendto(wire, self.client_address)


class OverTcp(Handler):
    def handle(self):
        while (head := self.request.recv(2, socket.MSG_WAITALL)) and len(head) == 2:
            octets = self.request.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
            wire = self.answer(octets).to_wire(max_size=65535)
            self.request.sendall(len(wire).to_bytes(2, "big") + wire)


def name_server():
    """Starts the server on one port for UDP and TCP, and returns its address."""
    while True:
        udp = socketserver.ThreadingUDPServer(("127.0.0.1", 0), Handler)
        try:
            tcp = socketserver.ThreadingTCPServer(udp.server_address, OverTcp)
            break
        except OSError:
            udp.server_close()
    for server in (udp, tcp):
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return "%s:%d" % udp.server_address


def text_record(text):
    """A text as the strings of one record."""
    return " ".join('"%s"' % text[at : at + 255].replace('"', '\\"') for at in range(0, len(text), 255))


def texts(name):
    """The texts of a name, as dkimpy and pyspf want them."""
    found = (ZONE.get(name.rstrip(".").lower()) or {}).get("TXT", [])
    return ["".join(re.findall(r'"([^"]*)"', text)) for text in found]


def dkim_key(name, timeout=5):
    found = texts(name.decode() if isinstance(name, bytes) else name)
    return found[0].encode() if found else None


def is_valid(mail):
    """The verdict of dkimpy, which fails where the key is of another kind than the signature."""
    try:
        return dkim.verify(mail if mail.endswith(b"\r\n") else mail + b"\r\n", dnsfunc=dkim_key)
    except (nacl.exceptions.CryptoError, nacl.exceptions.ValueError):
        return False


def spf_lookup(name, kind, tcpfallback=True, timeout=30):
    """What pyspf gets of DNS."""
    records = ZONE.get(name.rstrip(".").lower(), {})
    if records is None:
        raise spf.TempError("DNS SERVFAIL")
    found = records.get(kind, [])
    if kind == "TXT":
        return [((name, kind), (text.encode(),)) for text in texts(name)]
    if kind == "MX":
        return [((name, kind), (int(preference), host.rstrip("."))) for preference, host in (record.split() for record in found)]
    if kind == "AAAA":
        return [((name, kind), socket.inet_pton(socket.AF_INET6, address)) for address in found]
    return [((name, kind), address.rstrip(".")) for address in found]


class Keys:
    """Keys of both kinds, also those that nobody may use."""

    def __init__(self):
        self.rsa = {size: self.of_rsa(size) for size in (1024, 2048, 4096)}
        seed = nacl.signing.SigningKey.generate()
        public = base64.b64encode(bytes(seed.verify_key)).decode()
        self.ed25519 = base64.b64encode(bytes(seed)), f"v=DKIM1; k=ed25519; p={public}"

    @staticmethod
    def of_rsa(size):
        key = rsa.generate_private_key(public_exponent=65537, key_size=size)
        form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        return key.private_bytes(*form), "v=DKIM1; k=rsa; p=" + base64.b64encode(der).decode()


def body():
    """Lines with blanks within and behind them, and empty lines at the end, but no lines of blanks there."""
    words = ["code", "482913", "  ", "\t", "Grüße", "=20", "<p>", "a" * 70, "..", "From x"]
    lines = ["".join(RANDOM.choice(words) + RANDOM.choice(["", " ", "\t "]) for _ in range(RANDOM.randint(0, 6))) for _ in range(9)]
    return "\r\n".join([*lines, "end"]) + "\r\n" * RANDOM.randint(0, 4)


def signed_mail(number, keys):
    """A signed mail, and the same changed in one of many ways."""
    domain = f"d{number}.example.org"
    selector = f"s{number % 7}"
    folded = f"Subject: {RANDOM.choice(['one', 'two  words ', 'folded' + chr(13) + chr(10) + '  over lines'])}"
    head = [f"From: Ann  <ann@{domain}>", f"To: {ADDRESS}", folded, f"Message-ID: <{number}@{domain}>", "X-Empty:"]
    RANDOM.shuffle(head)
    message = ("\r\n".join(head) + "\r\n\r\n" + body()).encode()
    private, record = keys.ed25519 if number % 3 == 0 else keys.rsa[RANDOM.choice([1024, 2048, 2048, 4096])]
    algorithm = b"ed25519-sha256" if number % 3 == 0 else b"rsa-sha256"
    form = RANDOM.choice([(a, b) for a in (b"relaxed", b"simple") for b in (b"relaxed", b"simple")])
    covered = RANDOM.choice([None, [b"From", b"Subject"], [b"from", b"to", b"subject", b"from", b"x-not-there"]])
    signature = dkim.sign(
        message, selector.encode(), domain.encode(), private, canonicalize=form, signature_algorithm=algorithm, include_headers=covered
    )
    mail, name = signature + message, f"{selector}._domainkey.{domain}"
    change = number % 12
    if change == 1:
        mail = mail.replace(b"end\r\n", b"END\r\n") if b"end\r\n" in mail else mail + b"more\r\n"
    elif change == 2:
        mail = mail.replace(b"From: Ann", b"From: Bob")
    elif change == 3:
        mail = mail.replace(b"Ann  <", b"Ann <")
    elif change == 4:
        record = None
    elif change == 5:
        record = re.sub("p=.*", "p=", record)
    elif change == 6:
        mail = mail + b"\r\n\r\n"
    elif change == 7:
        record = keys.ed25519[1] if algorithm.startswith(b"rsa") else keys.rsa[2048][1]
    elif change == 8:
        mail = mail.replace(b" s=s", b" s=t", 1)
    if record is not None:
        ZONE[name] = {"TXT": [text_record(record)]}
    return mail, domain


def policy(number):
    """A domain with SPF, and a client that sends for it."""
    domain, client = f"p{number}.example.net", f"8.{number % 4}.{RANDOM.randint(0, 3)}.{RANDOM.randint(1, 4)}"
    address = f"8.{number % 4}.{RANDOM.randint(0, 3)}.{RANDOM.randint(1, 4)}"
    ZONE[f"a.{domain}"] = {"A": [address]}
    ZONE[f"mx.{domain}"] = {"A": [client], "MX": [f"10 a.{domain}."]}
    ZONE[f"i.{domain}"] = {"TXT": [text_record(f"v=spf1 {RANDOM.choice(['ip4:' + client, 'ip4:' + address, '?all', '-all'])}")]}
    ZONE[f"l.{domain}"] = {"TXT": [text_record(f"v=spf1 include:l.{domain} -all")]}
    ZONE[f"f.{domain}"] = None
    terms = [f"a:a.{domain}", f"mx:mx.{domain}", f"include:i.{domain}", f"ip4:{address}/30", f"-ip4:{client}/8", f"~a:mx.{domain}/28"]
    terms += [f"exists:%{{ir}}.x.{domain}", "?all", f"a:a.{domain}/24", "ip6:2001:db8::/32"]
    last = RANDOM.choice(["-all", "~all", "?all", f"redirect=i.{domain}", ""])
    chosen = RANDOM.sample(terms, RANDOM.randint(0, 3))
    record = " ".join(["v=spf1", *chosen, last]).strip()
    record = {0: "v=spf1 ip4:999 -all", 1: f"v=spf1 include:l.{domain}", 2: f"v=spf1 include:f.{domain} -all", 3: "v=spf1 include:none.example -all"}.get(
        number % 20, record
    )
    # Beside other texts a record that can't be read counts as none, as the order of the answers may be.
    records = [text_record(record)] + ([text_record("google-site-verification=x")] if number % 20 else [])
    ZONE[domain] = {"TXT": records} if number % 20 != 4 else {"A": [address]}
    return domain, client


class Sender:
    """Sends mail for clients that a PROXY header names."""

    def __init__(self, smtp):
        host, port = smtp.rsplit(":", 1)
        self.address = host, int(port)

    def send(self, client, reverse_path, message):
        with socket.create_connection(self.address) as connection:
            replies = connection.makefile("rb")
            connection.sendall(f"PROXY TCP4 {client} 8.8.8.8 51234 25\r\n".encode())
            self.expect(replies, b"220")
            for line, code in [("HELO client.example", b"250"), (f"MAIL FROM:<{reverse_path}>", b"250"), (f"RCPT TO:<{ADDRESS}>", b"250"), ("DATA", b"354")]:
                connection.sendall(line.encode() + b"\r\n")
                self.expect(replies, code)
            if not message.endswith(b"\r\n"):
                message += b"\r\n"
            connection.sendall(re.sub(rb"(?m)^\.", b"..", message) + b".\r\n")
            self.expect(replies, b"250")

    @staticmethod
    def expect(replies, code):
        line = replies.readline()
        assert line.startswith(code), line


def newest(daemon):
    """What the administrator is told of the newest mail."""

    def get(path):
        request = urllib.request.Request(f"http://{daemon.http}{path}", headers={"Authorization": f"Bearer {daemon.token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    row = get(f"/api/mail/messages?to={ADDRESS}&limit=1&fields=id")["emails"][0]
    return get(f"/api/mail/messages/{row['id']}")["authentication"]


def compare_signatures(daemon, sender):
    keys, passed = Keys(), 0
    for number in range(SIGNED):
        mail, domain = signed_mail(number, keys)
        sender.send(f"8.8.{number % 250}.{number % 7 + 1}", f"ann@{domain}", mail)
        found = newest(daemon)
        expected = is_valid(mail)
        result = [one["result"] for one in found["dkim"]]
        assert len(result) == 1 and (result == ["pass"]) == expected, (number, expected, found, mail)
        assert found["dkim"][0]["domain"] == domain and (found["verified"] == domain) == expected, (number, found)
        assert result != ["temperror"], found
        passed += expected
    assert SIGNED / 3 < passed < SIGNED, passed
    print(f"{SIGNED} signed mails, of which {passed} pass: the verdicts of dkimpy")


def compare_chains(daemon, sender):
    private, record = Keys.of_rsa(2048)
    seen = {}
    for number in range(CHAINS):
        domain = f"c{number}.example.com"
        ZONE[f"arc._domainkey.{domain}"] = {"TXT": [text_record(record)]}
        head = f"Authentication-Results: {domain}; none\r\nFrom: ann@{domain}\r\nTo: {ADDRESS}\r\nSubject: {number}\r\n\r\n"
        mail = head.encode() + body().encode()
        for _ in range(number % 4):
            covered = [b"from", b"to", b"subject"]
            chain = dkim.arc_sign(mail, b"arc", domain.encode(), private, domain.encode(), include_headers=covered)
            mail = b"".join(chain) + mail
        if number % 3 == 0:
            mail = mail.replace(b"Subject: ", b"Subject: re ")
        mail += b"" if mail.endswith(b"\r\n") else b"\r\n"
        sender.send("8.8.8.9", f"ann@{domain}", mail)
        found, expected = newest(daemon)["arc"], dkim.arc_verify(mail, dnsfunc=dkim_key)[0].decode()
        assert found["result"] == expected, (number, expected, found, mail)
        assert found["domain"] == (domain if number % 4 else ""), found
        seen[expected] = seen.get(expected, 0) + 1
    assert len(seen) == 3, seen
    print(f"{CHAINS} chains: the verdicts of dkimpy, {seen}")


def compare_clients(daemon, sender):
    spf.DNSLookup = spf_lookup
    seen = {}
    for number in range(POLICIES):
        domain, client = policy(number)
        sender.send(client, f"ann@{domain}", f"From: ann@{domain}\r\n\r\nhi\r\n".encode())
        found = newest(daemon)["spf"]
        expected = spf.check2(i=client, s=f"ann@{domain}", h="client.example")[0]
        assert found == {"result": expected, "domain": domain}, (number, ZONE[domain], client, expected, found)
        seen[expected] = seen.get(expected, 0) + 1
    assert len(seen) == 7, seen
    print(f"{POLICIES} clients: the verdicts of pyspf, {seen}")


def main(program):
    resolver = name_server()
    options = ["--proxy-from", "127.0.0.1", "--sender-verdicts", "on-read", "--limit-exempt", "0.0.0.0/0"]
    with tempfile.TemporaryDirectory() as directory:
        daemon = Daemon(program, pathlib.Path(directory) / "data", *options, resolver=resolver)
        try:
            begun = time.monotonic()
            sender = Sender(daemon.smtp)
            compare_signatures(daemon, sender)
            compare_chains(daemon, sender)
            compare_clients(daemon, sender)
            print(f"{time.monotonic() - begun:.0f} s")
        finally:
            daemon.stop()


if __name__ == "__main__":
    main(sys.argv[2])
