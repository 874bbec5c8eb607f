# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_tempmail_global_optspecs
    string join \n server= context= token-file= data-dir= config= o/output= json jq= q/quiet v/verbose color= yes h/help V/version
end

function __fish_tempmail_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_tempmail_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_tempmail_using_subcommand
    set -l cmd (__fish_tempmail_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c tempmail -n "__fish_tempmail_needs_command" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_needs_command" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_needs_command" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_needs_command" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_needs_command" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_needs_command" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_needs_command" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_needs_command" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_needs_command" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_needs_command" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_needs_command" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_needs_command" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_needs_command" -s V -l version -d 'Print version'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "serve" -d 'Run the service: receive mail over SMTP and answer over HTTP'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "new" -d 'Make an address that nobody can guess'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "inbox" -d 'List the mail of an address, or of all addresses, newest first'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "read" -d 'Show one mail'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "open" -d 'Open a mail in a browser, as its HTML shows it'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "wait" -d 'Wait for a mail and print it'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "expect" -d 'Check that a mail comes that is as expected'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "watch" -d 'Print what happens to mail, a line of JSON per event'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "mcp" -d 'Give an agent tools for mail, over standard input and output'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "delete" -d 'Delete mail: all of an address, or single mails by id'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "send-test" -d 'Send a test mail through SMTP and look it up in the inbox'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "sendmail" -d 'Take a mail on standard input, as `sendmail` does'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "export" -d 'Write mail into an mbox file or a Maildir'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "import" -d 'Put messages from files into inboxes, without SMTP'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "domain" -d 'Add, list, check and remove the domains that mail is received for'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "webhook" -d 'Send mail to a URL as it arrives, by POST and with a signature'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "token" -d 'Give out tokens for the administrator\'s operations over HTTP'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "fault" -d 'Have SMTP misbehave on purpose, to test a sender'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "db" -d 'Check, measure, compact, back up and restore the mail store'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "config" -d 'Show the settings, check a configuration file or write one'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "doctor" -d 'Check the service, its settings and this machine'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "status" -d 'Show where the service listens, what it keeps and its limits'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "context" -d 'Keep servers and their tokens under names'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "completions" -d 'Print completions for a shell, or write those for all shells'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "man" -d 'Print the manual page, or write all pages into a directory'
complete -c tempmail -n "__fish_tempmail_needs_command" -f -a "help" -d 'Print a guide, a topic, or the help of a command'
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l revision -d 'Revision of the interface; the defaults of the other settings come from it [default: 2]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l retention -d 'How long a message is kept, 1s to 365d; then it is deleted [default: 2h]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-message-size -d 'Largest message, 1KB to 50MB; KB is 1,024 octets [default: 300KB; revision 1: 10MB]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l subaddressing -d 'Whether user+tag@ is an address of its own (keep) or arrives at user@ (strip) [default: keep]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l role-addresses -d 'Local part whose mail only the administrator may read, on domains that can have certificates; \'none\' for none [default: abuse,admin,administrator,hostmaster,noc,postmaster,root,security,ssl-admin,ssladmin,ssladministrator,sslwebmaster,webmaster]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l log-format -d 'Log lines for people (text) or for programs (json) [default: text]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l smtp-listen -d 'Address that SMTP listens on; port 0 lets the system choose [default: 127.0.0.1:2525,[::1]:2525]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l smtps-listen -d 'Address that SMTP with TLS from the first octet listens on; needs a certificate [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l lmtp-listen -d 'Address or Unix socket that LMTP listens on, for an MTA in front; a path begins with \'/\' [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l lmtp-socket-mode -d 'Mode of the file of a Unix socket for LMTP, octal [default: 660]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l proxy-from -d 'Network of proxies; each connection from there must begin with a PROXY header, which names the client [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l hostname -d 'Name that SMTP greets with and that Received fields carry [default: the first mx-host, else the machine\'s name, else localhost]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-smtp-connections -d 'Maximum SMTP connections at once, 1 to 100000 [default: 1000]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l smtp-body-budget -d 'Memory for all incoming messages, 1MB to 1024GB, at least max-message-size; one client may use a quarter [default: 256MB]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-line-size -d 'Longest line of a message after DATA, 1KB to 50MB; RFC 5321 asks for 1,000 octets [default: 128KB]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l smtp-auth -d 'Whether SMTP offers AUTH and takes any credentials; only while it listens on loopback [default: off]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-smtp-connections-per-client -d 'Maximum SMTP connections at once of one client (IPv4 address or IPv6 /64), 1 to 100000 [default: 50]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l smtp-connections-per-minute -d 'Maximum new SMTP connections of one client in a minute, 1 to 1000000 [default: 600]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l limit-exempt -d 'Network whose clients have no limit on their connections and their part of smtp-body-budget; \'none\' for no network [default: 127.0.0.0/8,::1/128]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l smtp-timeout -d 'How long an SMTP client may be silent, take for one command line, or take to read the replies, 100ms to 1h [default: 5m]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l refuse-client -d 'Network whose clients are refused with 554 [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l refuse-sender-domain -d 'Domain whose mail is refused, by the reverse-path: a name, or \'*.NAME\' for all below it [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l accept-local-part -d 'Local part that mail is accepted for, \'*\' for any characters and \'?\' for one; postmaster and role addresses always are [default: all]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-messages-per-mailbox -d 'Maximum messages in one mailbox, 0 to 1000000; 0: no cap [default: 0]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-messages-per-domain -d 'Maximum messages in all mailboxes of one domain, 0 to 1000000000; 0: no cap [default: 0]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l mailbox-full -d 'Whether a message for a full mailbox is refused for now or replaces the mailbox\'s oldest [default: reject]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l fault -d 'Fault of SMTP on purpose, such as \'RCPT user4xx@* first 2 451 4.3.0\'; see `tempmail help smtp` [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l fault-anywhere -d 'Permit faults although SMTP can be reached from other machines [default: false]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l tls-cert -d 'Certificate in PEM with the chain behind it; read again when it changes and at SIGHUP [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l tls-key -d 'Private key of tls-cert in PEM: RSA, EC or Ed25519 [default: none; the file of tls-cert where that is set]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l tls-self-signed -d 'Create a self-signed certificate at the start, for development [default: false]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l tls-handshake-timeout -d 'How long a TLS handshake may take, 100ms to 5m [default: 10s]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l http-listen -d 'Address that HTTP listens on, or Unix socket for a reverse proxy; a path begins with \'/\' [default: 127.0.0.1:8080,[::1]:8080]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l http-socket-mode -d 'Mode of the file of a Unix socket for HTTP, octal [default: 660]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l https-listen -d 'Address that HTTP with TLS from the first octet listens on; needs a certificate [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l metrics-listen -d 'Address of /metrics, /healthz and /readyz alone; with it, no other listener has /metrics [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l page-size-default -d 'Messages on a page if the request has no limit, 1 to 300, at most page-size-max [default: 20]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l page-size-max -d 'Maximum messages on a page, 1 to 300, with revision 1 at most 100 [default: 100]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l http-allowed-hosts -d 'Host name or address, without port, that HTTP answers for beside loopback [default: any, but only loopback while HTTP listens on loopback only]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l http-allowed-origins -d 'Origin whose web pages may read answers, such as https://app.example; \'*\' for any, \'none\' for no other [default: any, but only loopback ones while HTTP listens on loopback only]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l trusted-proxies -d 'Network of reverse proxies, whose X-Forwarded-For names the client of a request [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l forwarded-field -d 'Header field in which the trusted proxies name the client; they must set it in each request [default: x-forwarded-for]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l rate-limit -d 'HTTP requests per minute of one client (IPv4 address or IPv6 /64), 1 to 10000000, or \'off\' [default: 10000; revision 1: off]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l access-log -d 'Log line for each HTTP request, with the client\'s /24 or /48 (masked) or its address (full) [default: off]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l web -d 'Inbox for browsers at / [default: on; revision 1: off]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l compat-api -d 'Interface of another mail catcher for test suites: all mail, without a token only on loopback [default: off]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-http-connections -d 'Maximum HTTP connections at once, 1 to 100000 [default: 1000]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-http-connections-per-client -d 'Maximum HTTP connections at once of one client (IPv4 address or IPv6 /64), 1 to 100000 [default: 250]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-http-waiting -d 'Maximum HTTP requests at once that wait for mail, beside max-http-connections, 1 to 100000 [default: 10000]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-http-waiting-per-client -d 'Maximum HTTP requests at once that wait for mail, of one client (IPv4 address or IPv6 /64), 1 to 100000 [default: 100]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l public-domains -d 'Who may register domains over HTTP: anybody (open), or callers with a token; off says that to others [default: open]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l public-webhooks -d 'Who may register, list and delete webhooks over HTTP [default: open]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l public-delete -d 'Who may delete mail over HTTP [default: open]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l public-read -d 'Who may read mail over HTTP [default: open]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l domain -d 'Domain that receives mail without a check of DNS: a name, \'*.NAME\' for all below it, or \'*\' for every one [default: none; example.test while there is neither a domain nor an mx-host]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l accept-any-domain -d 'Permit a domain with \'*\' although SMTP can be reached from other machines [default: false]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l mx-host -d 'Name that the MX record of a registered domain must point to; without it no domain can be registered [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l verify-every -d 'How often the MX record of each registered domain is verified, 1s to 30d [default: 12h; revision 1: 1d]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l resolver -d 'DNS server to ask, port 53 if none is named [default: those of the system]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l public-address -d 'Further address of this service, if it is behind NAT and its mx-host names do not resolve to it [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-domains -d 'Maximum domains that can be registered, 0 to 1000000 [default: 10000]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-domains-per-client -d 'Maximum registered domains of one client (an IPv4 address or an IPv6 /64), 0 to 1000000; the administrator has none [default: 100]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-allow -d 'Network that webhooks may be sent to although it is not public, such as 10.0.0.0/8 [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-refused-ports -d 'Port that no webhook is sent to, 1 to 65535; 25, 465 and 587 never are [default: none]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-schedule -d 'Delays between the attempts of an event, 10ms to 1d each, 1 to 20 of them; the last one repeats [default: 5s,30s,2m,10m,30m,1h]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-timeout -d 'How long an attempt may take, 100ms to 2m [default: 15s]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-grace -d 'How long after its message has expired an event is still attempted, 0s to 30d [default: 1d]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-idle -d 'How long a webhook is kept without any mail for it, 1s to 365d [default: 30d]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-webhooks-per-recipient -d 'Maximum webhooks of one address, 0 to 1000 [default: 10]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-webhooks-per-client -d 'Maximum webhooks that one client has registered, an address of IPv4 or a /64 of IPv6, 1 to 1000000 [default: 100]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-registrations-per-minute -d 'Maximum registrations of webhooks in a minute by one client, 1 to 1000000 [default: 60]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-unproven-life -d 'How long a webhook is kept whose receiver has never accepted an event, 1s to 365d [default: 2d]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l max-webhooks -d 'Maximum webhooks in all, 0 to 1000000 [default: 10000]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l outbox-events -d 'Maximum pending events of one webhook, 1 to 100000; beyond, the oldest is dropped [default: 1000]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l outbox-size-per-webhook -d 'Maximum octets of the messages that are pending for one webhook, 1MB to 10GB [default: 64MB]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l outbox-size -d 'Maximum octets of the messages that are pending for all webhooks, 1MB to 1024GB [default: 1GB]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-in-flight -d 'Maximum attempts at once, 1 to 10000; those that take longer than 250ms count against a limit of 1024 instead [default: 128]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l webhook-per-address-per-minute -d 'Maximum attempts per minute at one address and port that has accepted an event, under all host names, 1 to 1000000 [default: 6000]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l segment-size -d 'Size of a file of the journal, 1MB to 1GB, at least twice max-message-size [default: 64MB, or twice max-message-size where that is more]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l index-cache-size -d 'Memory for parts of the index, 1MB to 2GB [default: 8MB]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l domain -d 'The domain, which must be active' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l prefix -d 'What the address begins with, before a hyphen and 17 random characters' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand new" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l domain -d 'Only those of this domain' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l page -d 'Which page, from 1' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l limit -d 'How many at most [default: a page of the service]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l from -d 'Only mail whose sender contains this, in any case' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l subject -d 'Only mail whose subject contains this, in any case' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l since -d 'Only mail received at this time or later, such as 2026-01-31T12:00:00Z' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l until -d 'Only mail received before this time' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l has -d 'Only mail that has this: a file, a one-time code, or a link to verify, sign in, reset or accept' -r -f -a "attachment\t''
code\t''
link\t''"
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l mailboxes -d 'The addresses that have mail instead of the mail. For the administrator'
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l all -d 'All of them, however many there are'
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l watch -d 'Keep the list up to date: on a terminal it is drawn again, in a pipe each mail that arrives is a further line'
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand inbox" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l attachment -d 'The octets of the attachment with this number, which `read` shows before its name' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -s O -l file -d 'Where to write the attachment, instead of to standard output; a directory takes it under its own name' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l save-all -d 'Write every attachment into this directory under its own name, made safe, and print where each went' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l latest -d 'The newest mail of the address'
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l html -d 'The HTML body and nothing else'
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l raw -d 'The message as received, and nothing else'
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand read" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l latest -d 'The newest mail of the address'
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand open" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l timeout -d 'How long to wait, such as 90s or 5m, at most a day; 0s only looks' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l since -d 'Only mail after this: `now`, a duration ago such as 5m, a time such as 2026-01-31T12:00:00Z, or the id of a mail, or its end' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l from -d 'Only mail whose sender contains this, in any case' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l subject -d 'Only mail whose subject contains this, in any case' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l has -d 'Only mail that has this: a file, a one-time code, or a link to verify, sign in, reset or accept' -r -f -a "attachment\t''
code\t''
link\t''"
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l link -d 'Wait for a mail with a link to press, of this kind if one is given, and print its address alone' -r -f -a "any\t''
verification\t''
sign_in\t''
reset\t''
invite\t''"
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l code -d 'Wait for a mail with a one-time code, and print the code alone'
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand wait" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l timeout -d 'How long to wait, such as 90s or 5m, at most a day; 0s only looks' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l since -d 'Only mail after this: `now`, a duration ago such as 5m, a time such as 2026-01-31T12:00:00Z, or the id of a mail, or its end' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l from -d 'The sender contains this, in any case' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l subject -d 'The subject contains this, in any case' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l text -d 'The text that a person reads matches this; ^ and $ are the ends of a line' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l html-has -d 'The HTML has an element that this CSS selector matches' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l link-host -d 'A link leads to this host, or to one below it' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l attachment -d 'There is a file of this name, in which * stands for any characters' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l count -d 'So many mails are as expected, when the last of them has come, and no more' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l no-mail-within -d 'No mail comes in this time that is as the assertions say' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l report -d 'Also write the result into a file, as the XML of test runners or as TAP lines; can be given more than once' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l code -d 'There is a one-time code, which is printed in place of the id'
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand expect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l domain -d 'Only addresses of this domain; may be given several times, and all are permitted without it' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l read-only -d 'No tool that deletes'
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l id -d 'The id of a mail, or its end, which may be one of ADDR; several may follow' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l dry-run -d 'Say what would go, and delete nothing'
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l smtp -d 'Host and port of SMTP [default: the daemon\'s listener; with --server port 2525 of its host]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l file -d 'Send this message instead; lines that end with LF get CRLF. It is known again by its octets' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l count -d 'Send so many, one after the other, 1 to 1000' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand send-test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand sendmail" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l mbox -d 'Write a file in the form mboxrd' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l maildir -d 'Write into this Maildir, made if it is missing' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l all -d 'The mail of all addresses. For the administrator'
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l file -d 'The file with the message [default: standard input]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l mbox -d 'An mbox file with any number of messages' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l maildir -d 'A Maildir' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l from -d 'The sender of the envelope; without it that in an mbox file or Maildir, else none, as of a bounce' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -f -a "add" -d 'Register a domain whose MX record points at this service'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -f -a "list" -d 'List the domains'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -f -a "ls" -d 'List the domains'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -f -a "check-dns" -d 'Ask DNS whether the MX record of a domain points at this service'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -f -a "verify" -d 'Check the MX records of registered domains now'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -f -a "remove" -d 'Stop receiving mail for a domain'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and not __fish_seen_subcommand_from add list ls check-dns verify remove rm" -f -a "rm" -d 'Stop receiving mail for a domain'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l owner -d 'Name of the owner' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l email -d 'Contact address of the owner' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l skip-dns-check -d 'Never ask DNS about this domain, now or later; for the administrator'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l active -d 'Only the names of active domains, without wildcards'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l active -d 'Only the names of active domains, without wildcards'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from check-dns" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l force -d 'Deactivate however many domains are found to point elsewhere'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l dry-run -d 'Say what would go, and remove nothing'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l dry-run -d 'Say what would go, and remove nothing'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand domain; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "add" -d 'Send mail for an address to a URL as it arrives'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "list" -d 'List the webhooks of an address, or all of them'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "ls" -d 'List the webhooks of an address, or all of them'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "remove" -d 'Delete webhooks together with their pending events'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "rm" -d 'Delete webhooks together with their pending events'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "deliveries" -d 'Show the delivery log of a webhook, newest first'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "replay" -d 'Send events to a webhook again, under their own webhook-id'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "test" -d 'Send a sample event to a webhook now and show the attempt'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and not __fish_seen_subcommand_from add list ls remove rm deliveries replay test listen" -f -a "listen" -d 'POST mail to a local URL as it arrives, as a webhook would, without registering one'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l secret-file -d 'File with the secret that payloads are signed with, - for standard input; one final line end is no part of it' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l origin -d 'Only those of the scheme, host and port of this URL' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l domain -d 'Only those of addresses of this domain' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l all -d 'Those of all addresses. For the administrator'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l origin -d 'Only those of the scheme, host and port of this URL' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l domain -d 'Only those of addresses of this domain' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l all -d 'Those of all addresses. For the administrator'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l origin -d 'All of the scheme, host and port of this URL. For the administrator' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l origin -d 'All of the scheme, host and port of this URL. For the administrator' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l limit -d 'Attempts at most' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from deliveries" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l since -d 'Every event with an attempt in the log since this time: RFC 3339, \'YYYY-MM-DD HH:MM:SS\' (UTC), or how long ago, such as 2h' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l failed -d 'Every ended event whose last attempt failed'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l forward-to -d 'Where to POST; private and loopback addresses are fine, the ports of mail (25, 465, 587) are not' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l secret-file -d 'File with the secret that payloads are signed with, - for standard input; one final line end is no part of it' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand webhook; and __fish_seen_subcommand_from listen" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -f -a "new" -d 'Create a token and print it, this once'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -f -a "list" -d 'List the tokens, without the tokens themselves'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -f -a "ls" -d 'List the tokens, without the tokens themselves'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -f -a "revoke" -d 'Make a token invalid at once'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and not __fish_seen_subcommand_from new list ls revoke rm" -f -a "rm" -d 'Make a token invalid at once'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l name -d 'Name of the token: letters, digits and the characters . _ -' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l expires -d 'How long it is valid, 1m to 3650d [default: until it is revoked]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l scope -d 'What its bearer may do: admin for everything, read for reading alone' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from new" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand token; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -f -a "add" -d 'Add a rule behind the others and print its number'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -f -a "list" -d 'List the rules in the order in which they are checked'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -f -a "ls" -d 'List the rules in the order in which they are checked'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -f -a "clear" -d 'Remove one rule, or all'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and not __fish_seen_subcommand_from add list ls clear rm" -f -a "rm" -d 'Remove one rule, or all'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand fault; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -f -a "check" -d 'Check whether the store is whole: every record, every row, and whether they agree'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -f -a "stats" -d 'Show how much is stored: mail, domains, webhooks, and the size of the files'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -f -a "compact" -d 'Return the space of deleted mail to the file system'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -f -a "backup" -d 'Back up all mail, domains and webhooks'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and not __fish_seen_subcommand_from check stats compact backup restore" -f -a "restore" -d 'Replace the store with a backup'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l salvage -d 'Keep the readable part of a damaged store, after a question or with --yes'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l with-events -d 'Also restore the events that were pending when the backup was made'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand db; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -f -a "show" -d 'Show every setting with its value in effect'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -f -a "check" -d 'Check a configuration file and report all of its faults'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and not __fish_seen_subcommand_from show check init" -f -a "init" -d 'Print a configuration file with every setting at its default, or write it'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l origin -d 'Also show where each value comes from: a flag, a variable, a line of the file, or the default'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand config; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l all -d 'Every field, with the counters of SMTP and of the store'
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -f -a "add" -d 'Add a server, or replace the one of this name'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -f -a "use" -d 'Use a context where neither a server nor a data directory is named'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -f -a "list" -d 'List the contexts, without their tokens'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -f -a "ls" -d 'List the contexts, without their tokens'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -f -a "remove" -d 'Remove a context and its token from this machine'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and not __fish_seen_subcommand_from add use list ls remove rm" -f -a "rm" -d 'Remove a context and its token from this machine'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand context; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l dir -d 'Write a file for every shell into this directory' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l server -d 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l context -d 'Ask the server of this context, see `tempmail context` [env: TEMPMAIL_CONTEXT]' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l token-file -d 'File with a token for --server, see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l data-dir -d 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l config -d 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]' -r -F
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -s o -l output -d 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]' -r -f -a "table\t'For people'
json\t'The answer of the HTTP interface, indented'
ndjson\t'One JSON object per line'
tsv\t'Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks'
id\t'Ids or names alone, one per line'"
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l jq -d 'Print what this expression of jq makes of the JSON, strings without quotes; implies --json' -r
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l json -d 'Same as --output json: the fields of the HTTP interface'
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -s q -l quiet -d 'No hints on standard error, only errors; for serve also warnings'
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -s v -l verbose -d 'Say more on standard error, for example which way the service was reached; twice for more'
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -l yes -d 'Do not ask before deleting'
complete -c tempmail -n "__fish_tempmail_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
