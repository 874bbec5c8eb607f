
use builtin;
use str;

set edit:completion:arg-completer[tempmail] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'tempmail'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'tempmail'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand serve 'Run the service: receive mail over SMTP and answer over HTTP'
            cand inbox 'List the mail of an address, newest first'
            cand read 'Show one mail'
            cand delete 'Delete mail: all of an address, or single mails by id'
            cand send-test 'Send a small mail through SMTP and say where it ended'
            cand domain 'Add, list, check and remove the domains that mail is received for'
            cand webhook 'Send mail to a URL as it arrives, by POST and with a signature'
            cand db 'Check, measure, compact, back up and restore the mail store'
            cand status 'Show where the service listens, what it keeps and its limits'
            cand completions 'Print the completions of a shell, or write those of every shell into a directory'
            cand man 'Print the manual page, or write the pages of every command into a directory'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tempmail;serve'= {
            cand --revision 'Revision of the interface, which the defaults of the other settings come from [default: 2]'
            cand --retention 'How long a message can be read, 1s to 365d; then it is deleted [default: 2h]'
            cand --max-message-size 'Largest message, 1KB to 50MB; KB is 1,024 octets [default: 300KB; revision 1: 10MB]'
            cand --subaddressing 'Whether user+tag@ is an address of its own (keep) or arrives at user@ (strip) [default: keep]'
            cand --role-addresses 'Local part that only the administrator may read on a domain for which certificates exist; ''none'' for no such [default: abuse,admin,administrator,hostmaster,noc,postmaster,root,security,ssl-admin,ssladmin,ssladministrator,sslwebmaster,webmaster]'
            cand --log-format 'Log lines for people (text) or for programs (json) [default: text]'
            cand --smtp-listen 'Address that SMTP listens on; port 0 lets the system choose [default: 127.0.0.1:2525,[::1]:2525]'
            cand --smtps-listen 'Address that SMTP with TLS from the first octet listens on; needs a certificate [default: none]'
            cand --lmtp-listen 'Address or Unix socket that LMTP listens on, for an MTA in front; a path begins with ''/'' [default: none]'
            cand --lmtp-socket-mode 'Mode of the file of a Unix socket for LMTP, octal [default: 660]'
            cand --proxy-from 'Network whose connections must begin with a header of the PROXY protocol, which tells the client [default: none]'
            cand --hostname 'Name that SMTP greets with and that Received fields carry [default: the first mx-host, else the machine''s name, else localhost]'
            cand --max-smtp-connections 'Most SMTP connections at once, 1 to 100000 [default: 1000]'
            cand --smtp-body-budget 'Memory for all messages that are coming in over SMTP, 1MB to 1024GB, at least max-message-size [default: 256MB]'
            cand --max-line-size 'Longest line of a message after DATA, 1KB to 50MB; RFC 5321 asks for 1,000 octets [default: 128KB]'
            cand --max-recipients 'Most recipients of one message, 1 to 100; RFC 5321 asks for 100 [default: 100]'
            cand --max-hops 'Most Received fields of a message, 1 to 1000; one with more is in a loop and refused [default: 100]'
            cand --smtp-auth 'Whether SMTP offers AUTH and takes any credentials; only while it listens on loopback [default: off]'
            cand --max-smtp-connections-per-address 'Most SMTP connections at once from one address, 1 to 100000, at most those of its network [default: 50, or max-smtp-connections-per-network where that is less]'
            cand --max-smtp-connections-per-network 'Most SMTP connections at once from one /24 of IPv4 or /64 of IPv6, 1 to 100000 [default: 200, or max-smtp-connections-per-address where that is more]'
            cand --smtp-connections-per-minute 'Most new SMTP connections in a minute from one address of IPv4 or /64 of IPv6, 1 to 1000000 [default: 600]'
            cand --smtp-body-budget-per-address 'Most of smtp-body-budget for messages from one address, 64KB to 1024GB, at least max-message-size, at most that of its network [default: a quarter of smtp-body-budget, but no less than max-message-size and no more than that of its network]'
            cand --smtp-body-budget-per-network 'Most of smtp-body-budget for messages from one /24 of IPv4 or /64 of IPv6, 64KB to 1024GB, at least max-message-size [default: half of smtp-body-budget, or max-message-size or smtp-body-budget-per-address where that is more]'
            cand --limit-exempt 'Network whose SMTP clients the five limits before do not hold for; ''none'' for no network [default: 127.0.0.0/8,::1/128]'
            cand --smtp-errors-max 'Errors (5yz replies) without a stored message between them that end an SMTP session, 1 to 1000 [default: 20]'
            cand --smtp-idle-timeout 'How long an SMTP client may keep silent, 100ms to 1h [default: 5m]'
            cand --smtp-reply-timeout 'How long an SMTP client may take to read the replies to what it has sent, 100ms to 1h [default: 5m]'
            cand --smtp-command-timeout 'How long an SMTP client may take for a whole command line, 100ms to 1h [default: 5m]'
            cand --smtp-message-timeout 'How long an SMTP transaction may take from MAIL on, unless its message keeps smtp-min-rate, 100ms to 1d [default: 10m]'
            cand --smtp-min-rate 'Octets of a message in a second that give it more time than smtp-message-timeout, 1 to 1000000 [default: 500]'
            cand --smtp-session-life 'How long an SMTP session may last; it ends between transactions, 100ms to 7d [default: 1h]'
            cand --smtp-stress-timeout 'In place of these timeouts while more than 3/4 of max-smtp-connections are taken, and of those for messages while more than 3/4 of smtp-body-budget are, 100ms to 5m [default: 10s]'
            cand --refuse-client 'Network whose clients get 554 in place of a greeting [default: none]'
            cand --refuse-sender-domain 'Domain from which no mail is taken, by the reverse-path: a name, or ''*.NAME'' for all below it [default: none]'
            cand --accept-local-part 'Local part that mail is taken for, ''*'' for any characters and ''?'' for one; postmaster and role addresses always are [default: all]'
            cand --max-messages-per-mailbox 'Most messages in one mailbox, 0 to 1000000; 0: no cap [default: 0]'
            cand --max-messages-per-domain 'Most messages in all mailboxes of one domain, 0 to 1000000000; 0: no cap [default: 0]'
            cand --mailbox-full 'Whether a message for a full mailbox is refused for now or takes the place of the mailbox''s oldest [default: reject]'
            cand --tls-cert 'Certificate in PEM with the chain behind it; read again when it changes and at SIGHUP [default: none]'
            cand --tls-key 'Private key of tls-cert in PEM: RSA, EC or Ed25519 [default: none; the file of tls-cert where that is set]'
            cand --tls-self-signed 'Make a certificate at the start that nobody has signed, for development [default: false]'
            cand --tls-handshake-timeout 'How long a TLS handshake may take, 100ms to 5m [default: 10s]'
            cand --http-listen 'Address that HTTP listens on; port 0 lets the system choose [default: 127.0.0.1:8080,[::1]:8080]'
            cand --page-size-default 'Messages on a page when the caller names no limit, 1 to 300, at most page-size-max [default: 20]'
            cand --page-size-max 'Most messages on a page, 1 to 300, with revision 1 at most 100 [default: 100]'
            cand --http-allowed-hosts 'Host name or address, without port, that HTTP answers to beside loopback ones while it listens on loopback only [default: none]'
            cand --http-allowed-origins 'Origin whose web pages may read answers, such as https://app.example; ''*'' for any, ''none'' for no other [default: any, but only loopback ones while HTTP listens on loopback only]'
            cand --rate-limit 'HTTP requests per minute and client address, 1 to 10000000, or ''off'' [default: 10000; revision 1: off]'
            cand --max-http-connections 'Most HTTP connections at once, 1 to 100000 [default: 1000]'
            cand --domain 'Domain that mail is received for without asking DNS: a name, ''*.NAME'' for all below it, or ''*'' for every one [default: none; example.test while there is neither a domain nor an mx-host]'
            cand --accept-any-domain 'Permit a domain with ''*'' although SMTP can be reached from other machines [default: false]'
            cand --mx-host 'Name that the MX record of a registered domain must point to; without one no domain can be registered [default: none]'
            cand --verify-every 'How often the MX record of each registered domain is verified, 1s to 30d [default: 12h; revision 1: 1d]'
            cand --resolver 'DNS server to ask, port 53 if none is named [default: those of the system]'
            cand --public-address 'Address of this service beside those that its mx-host names resolve to, for hosts behind NAT [default: none]'
            cand --max-domains 'Most domains that can be registered, 0 to 1000000 [default: 10000]'
            cand --webhook-allow 'Network that webhooks may be sent to although it is not public, such as 10.0.0.0/8 [default: none]'
            cand --webhook-refused-ports 'Port that no webhook is sent to, 1 to 65535; 25, 465 and 587 never are [default: none]'
            cand --webhook-schedule 'Waits between the attempts of an event, 10ms to 1d each, 1 to 20 of them; the last one repeats [default: 5s,30s,2m,10m,30m,1h]'
            cand --webhook-timeout 'How long an attempt may take, 100ms to 2m [default: 15s]'
            cand --webhook-grace 'How long after its message has expired an event is still attempted, 0s to 30d [default: 1d]'
            cand --webhook-idle 'How long a webhook is kept without any mail for it, 1s to 365d [default: 30d]'
            cand --max-webhooks-per-recipient 'Most webhooks of one address, 0 to 1000 [default: 10]'
            cand --max-webhooks-per-client 'Most webhooks that one client has registered, an address of IPv4 or a /64 of IPv6, 1 to 1000000 [default: 100]'
            cand --webhook-registrations-per-minute 'Most registrations of webhooks in a minute by one client, 1 to 1000000 [default: 60]'
            cand --webhook-unproven-life 'How long a webhook is kept whose receiver has never taken an event, 1s to 365d [default: 2d]'
            cand --max-webhooks 'Most webhooks in all, 0 to 1000000 [default: 10000]'
            cand --outbox-events 'Most events that wait for one webhook, 1 to 100000; beyond, the oldest is dropped [default: 1000]'
            cand --outbox-size-per-webhook 'Most octets of the messages that wait for one webhook, 1MB to 10GB [default: 64MB]'
            cand --outbox-size 'Most octets of the messages that wait for all webhooks, 1MB to 1024GB [default: 1GB]'
            cand --webhook-in-flight 'Most attempts under way at once, 1 to 10000; those that take longer than 250ms have 1024 places of their own [default: 128]'
            cand --webhook-per-address-per-minute 'Most attempts per minute at one address and port that has taken an event, whatever names lead there, 1 to 1000000 [default: 6000]'
            cand --segment-size 'Size of a file of the journal, 1MB to 1GB, at least twice max-message-size [default: 64MB, or twice max-message-size where that is more]'
            cand --index-cache-size 'Memory for parts of the index, 1MB to 2GB [default: 32MB]'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;inbox'= {
            cand --page 'Which page, from 1'
            cand --limit 'Mails per page; the service has a default and a maximum'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;read'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --latest 'The newest mail of the address'
            cand --html 'The HTML body and nothing else'
            cand --raw 'The message as received, and nothing else'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;delete'= {
            cand --id 'The id of a mail; several may follow'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --dry-run 'Say what would go, and delete nothing'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;send-test'= {
            cand --smtp 'Host and port of SMTP [default: the daemon''s listener; with --server port 2525 of its host]'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;domain'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand add 'Register a domain whose MX record points at this service'
            cand list 'List the domains'
            cand ls 'List the domains'
            cand check-dns 'Ask DNS whether the MX record of a domain points at this service'
            cand verify 'Check the MX records of registered domains now, as happens every period'
            cand remove 'Receive no more mail for a domain'
            cand rm 'Receive no more mail for a domain'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tempmail;domain;add'= {
            cand --owner 'Name of the owner'
            cand --email 'Contact address of the owner'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --skip-dns-check 'Never ask DNS about this domain, now or later; for the administrator'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;domain;list'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --active 'Only the names of active domains, without wildcards'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;domain;ls'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --active 'Only the names of active domains, without wildcards'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;domain;check-dns'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;domain;verify'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --force 'Deactivate however many domains are found to point elsewhere'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;domain;remove'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;domain;rm'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;domain;help'= {
            cand add 'Register a domain whose MX record points at this service'
            cand list 'List the domains'
            cand check-dns 'Ask DNS whether the MX record of a domain points at this service'
            cand verify 'Check the MX records of registered domains now, as happens every period'
            cand remove 'Receive no more mail for a domain'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tempmail;domain;help;add'= {
        }
        &'tempmail;domain;help;list'= {
        }
        &'tempmail;domain;help;check-dns'= {
        }
        &'tempmail;domain;help;verify'= {
        }
        &'tempmail;domain;help;remove'= {
        }
        &'tempmail;domain;help;help'= {
        }
        &'tempmail;webhook'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand add 'Send mail for an address to a URL as it arrives'
            cand list 'List the webhooks of an address, or all of them'
            cand ls 'List the webhooks of an address, or all of them'
            cand remove 'Delete webhooks, with the events that they have not been told'
            cand rm 'Delete webhooks, with the events that they have not been told'
            cand deliveries 'Show the attempts to tell a webhook of mail, newest first'
            cand replay 'Send events to a webhook again, under their own webhook-id'
            cand test 'Send a sample event to a webhook now and show the attempt'
            cand listen 'POST mail to a local URL as it arrives, as a webhook would, without registering one'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tempmail;webhook;add'= {
            cand --secret-file 'File with the secret that payloads are signed with, - for standard input; one final line end is no part of it'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;list'= {
            cand --origin 'Only those of the scheme, host and port of this URL'
            cand --domain 'Only those of addresses of this domain'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --all 'Those of all addresses. For the administrator'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;ls'= {
            cand --origin 'Only those of the scheme, host and port of this URL'
            cand --domain 'Only those of addresses of this domain'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --all 'Those of all addresses. For the administrator'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;remove'= {
            cand --origin 'All of the scheme, host and port of this URL. For the administrator'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;rm'= {
            cand --origin 'All of the scheme, host and port of this URL. For the administrator'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;deliveries'= {
            cand --limit 'Attempts at most'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;replay'= {
            cand --since 'Every event that the log shows attempted since then: RFC 3339, ''YYYY-MM-DD HH:MM:SS'' (UTC), or how long ago, such as 2h'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --failed 'Every event that waits no more and that the log does not show as delivered at last'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;test'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;listen'= {
            cand --forward-to 'Where to POST; private and loopback addresses are fine, the ports of mail (25, 465, 587) are not'
            cand --secret-file 'File with the secret that payloads are signed with, - for standard input; one final line end is no part of it'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;webhook;help'= {
            cand add 'Send mail for an address to a URL as it arrives'
            cand list 'List the webhooks of an address, or all of them'
            cand remove 'Delete webhooks, with the events that they have not been told'
            cand deliveries 'Show the attempts to tell a webhook of mail, newest first'
            cand replay 'Send events to a webhook again, under their own webhook-id'
            cand test 'Send a sample event to a webhook now and show the attempt'
            cand listen 'POST mail to a local URL as it arrives, as a webhook would, without registering one'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tempmail;webhook;help;add'= {
        }
        &'tempmail;webhook;help;list'= {
        }
        &'tempmail;webhook;help;remove'= {
        }
        &'tempmail;webhook;help;deliveries'= {
        }
        &'tempmail;webhook;help;replay'= {
        }
        &'tempmail;webhook;help;test'= {
        }
        &'tempmail;webhook;help;listen'= {
        }
        &'tempmail;webhook;help;help'= {
        }
        &'tempmail;db'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand check 'Check whether the store is whole: every record, every row, and whether they agree'
            cand stats 'Show how much is kept: mail, domains, webhooks, and what the files take'
            cand compact 'Give the space of what is gone back to the file system'
            cand backup 'Back up everything that is there now: mail, domains, webhooks'
            cand restore 'Replace the store by that of a backup'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tempmail;db;check'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --salvage 'Go on without what is damaged, after a question or with --yes'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;db;stats'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;db;compact'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;db;backup'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;db;restore'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --with-events 'Also what webhooks had not been told when the backup was made'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;db;help'= {
            cand check 'Check whether the store is whole: every record, every row, and whether they agree'
            cand stats 'Show how much is kept: mail, domains, webhooks, and what the files take'
            cand compact 'Give the space of what is gone back to the file system'
            cand backup 'Back up everything that is there now: mail, domains, webhooks'
            cand restore 'Replace the store by that of a backup'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tempmail;db;help;check'= {
        }
        &'tempmail;db;help;stats'= {
        }
        &'tempmail;db;help;compact'= {
        }
        &'tempmail;db;help;backup'= {
        }
        &'tempmail;db;help;restore'= {
        }
        &'tempmail;db;help;help'= {
        }
        &'tempmail;status'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;completions'= {
            cand --dir 'Write a file for every shell into this directory'
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;man'= {
            cand --server 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]'
            cand --token-file 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]'
            cand --data-dir 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]'
            cand --config 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]'
            cand -o 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --output 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]'
            cand --color 'When to colour'
            cand --json 'Same as --output json: the fields of the HTTP interface'
            cand -q 'No hints on standard error, only errors'
            cand --quiet 'No hints on standard error, only errors'
            cand -v 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --verbose 'Say more on standard error, for example which way the service was reached; twice for more'
            cand --yes 'Do not ask before deleting'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tempmail;help'= {
            cand serve 'Run the service: receive mail over SMTP and answer over HTTP'
            cand inbox 'List the mail of an address, newest first'
            cand read 'Show one mail'
            cand delete 'Delete mail: all of an address, or single mails by id'
            cand send-test 'Send a small mail through SMTP and say where it ended'
            cand domain 'Add, list, check and remove the domains that mail is received for'
            cand webhook 'Send mail to a URL as it arrives, by POST and with a signature'
            cand db 'Check, measure, compact, back up and restore the mail store'
            cand status 'Show where the service listens, what it keeps and its limits'
            cand completions 'Print the completions of a shell, or write those of every shell into a directory'
            cand man 'Print the manual page, or write the pages of every command into a directory'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tempmail;help;serve'= {
        }
        &'tempmail;help;inbox'= {
        }
        &'tempmail;help;read'= {
        }
        &'tempmail;help;delete'= {
        }
        &'tempmail;help;send-test'= {
        }
        &'tempmail;help;domain'= {
            cand add 'Register a domain whose MX record points at this service'
            cand list 'List the domains'
            cand check-dns 'Ask DNS whether the MX record of a domain points at this service'
            cand verify 'Check the MX records of registered domains now, as happens every period'
            cand remove 'Receive no more mail for a domain'
        }
        &'tempmail;help;domain;add'= {
        }
        &'tempmail;help;domain;list'= {
        }
        &'tempmail;help;domain;check-dns'= {
        }
        &'tempmail;help;domain;verify'= {
        }
        &'tempmail;help;domain;remove'= {
        }
        &'tempmail;help;webhook'= {
            cand add 'Send mail for an address to a URL as it arrives'
            cand list 'List the webhooks of an address, or all of them'
            cand remove 'Delete webhooks, with the events that they have not been told'
            cand deliveries 'Show the attempts to tell a webhook of mail, newest first'
            cand replay 'Send events to a webhook again, under their own webhook-id'
            cand test 'Send a sample event to a webhook now and show the attempt'
            cand listen 'POST mail to a local URL as it arrives, as a webhook would, without registering one'
        }
        &'tempmail;help;webhook;add'= {
        }
        &'tempmail;help;webhook;list'= {
        }
        &'tempmail;help;webhook;remove'= {
        }
        &'tempmail;help;webhook;deliveries'= {
        }
        &'tempmail;help;webhook;replay'= {
        }
        &'tempmail;help;webhook;test'= {
        }
        &'tempmail;help;webhook;listen'= {
        }
        &'tempmail;help;db'= {
            cand check 'Check whether the store is whole: every record, every row, and whether they agree'
            cand stats 'Show how much is kept: mail, domains, webhooks, and what the files take'
            cand compact 'Give the space of what is gone back to the file system'
            cand backup 'Back up everything that is there now: mail, domains, webhooks'
            cand restore 'Replace the store by that of a backup'
        }
        &'tempmail;help;db;check'= {
        }
        &'tempmail;help;db;stats'= {
        }
        &'tempmail;help;db;compact'= {
        }
        &'tempmail;help;db;backup'= {
        }
        &'tempmail;help;db;restore'= {
        }
        &'tempmail;help;status'= {
        }
        &'tempmail;help;completions'= {
        }
        &'tempmail;help;man'= {
        }
        &'tempmail;help;help'= {
        }
    ]
    $completions[$command]
}
