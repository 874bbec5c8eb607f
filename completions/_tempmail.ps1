
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'tempmail' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'tempmail'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'tempmail' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Run the service: receive mail over SMTP and answer over HTTP')
            [CompletionResult]::new('inbox', 'inbox', [CompletionResultType]::ParameterValue, 'List the mail of an address, newest first')
            [CompletionResult]::new('read', 'read', [CompletionResultType]::ParameterValue, 'Show one mail')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete mail: all of an address, or single mails by id')
            [CompletionResult]::new('send-test', 'send-test', [CompletionResultType]::ParameterValue, 'Send a small mail through SMTP and say where it ended')
            [CompletionResult]::new('domain', 'domain', [CompletionResultType]::ParameterValue, 'Add, list, check and remove the domains that mail is received for')
            [CompletionResult]::new('webhook', 'webhook', [CompletionResultType]::ParameterValue, 'Send mail to a URL as it arrives, by POST and with a signature')
            [CompletionResult]::new('db', 'db', [CompletionResultType]::ParameterValue, 'Check, measure, compact, back up and restore the mail store')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show where the service listens, what it keeps and its limits')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell, or write those of every shell into a directory')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write the pages of every command into a directory')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;serve' {
            [CompletionResult]::new('--revision', '--revision', [CompletionResultType]::ParameterName, 'Revision of the interface, which the defaults of the other settings come from [default: 2]')
            [CompletionResult]::new('--retention', '--retention', [CompletionResultType]::ParameterName, 'How long a message can be read, 1s to 365d; then it is deleted [default: 2h]')
            [CompletionResult]::new('--max-message-size', '--max-message-size', [CompletionResultType]::ParameterName, 'Largest message, 1KB to 50MB; KB is 1,024 octets [default: 300KB; revision 1: 10MB]')
            [CompletionResult]::new('--subaddressing', '--subaddressing', [CompletionResultType]::ParameterName, 'Whether user+tag@ is an address of its own (keep) or arrives at user@ (strip) [default: keep]')
            [CompletionResult]::new('--role-addresses', '--role-addresses', [CompletionResultType]::ParameterName, 'Local part that only the administrator may read on a domain for which certificates exist; ''none'' for no such [default: abuse,admin,administrator,hostmaster,noc,postmaster,root,security,ssl-admin,ssladmin,ssladministrator,sslwebmaster,webmaster]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Log lines for people (text) or for programs (json) [default: text]')
            [CompletionResult]::new('--smtp-listen', '--smtp-listen', [CompletionResultType]::ParameterName, 'Address that SMTP listens on; port 0 lets the system choose [default: 127.0.0.1:2525,[::1]:2525]')
            [CompletionResult]::new('--smtps-listen', '--smtps-listen', [CompletionResultType]::ParameterName, 'Address that SMTP with TLS from the first octet listens on; needs a certificate [default: none]')
            [CompletionResult]::new('--lmtp-listen', '--lmtp-listen', [CompletionResultType]::ParameterName, 'Address or Unix socket that LMTP listens on, for an MTA in front; a path begins with ''/'' [default: none]')
            [CompletionResult]::new('--lmtp-socket-mode', '--lmtp-socket-mode', [CompletionResultType]::ParameterName, 'Mode of the file of a Unix socket for LMTP, octal [default: 660]')
            [CompletionResult]::new('--proxy-from', '--proxy-from', [CompletionResultType]::ParameterName, 'Network whose connections must begin with a header of the PROXY protocol, which tells the client [default: none]')
            [CompletionResult]::new('--hostname', '--hostname', [CompletionResultType]::ParameterName, 'Name that SMTP greets with and that Received fields carry [default: the first mx-host, else the machine''s name, else localhost]')
            [CompletionResult]::new('--max-smtp-connections', '--max-smtp-connections', [CompletionResultType]::ParameterName, 'Most SMTP connections at once, 1 to 100000 [default: 1000]')
            [CompletionResult]::new('--smtp-body-budget', '--smtp-body-budget', [CompletionResultType]::ParameterName, 'Memory for all messages that are coming in over SMTP, 1MB to 1024GB, at least max-message-size [default: 256MB]')
            [CompletionResult]::new('--max-line-size', '--max-line-size', [CompletionResultType]::ParameterName, 'Longest line of a message after DATA, 1KB to 50MB; RFC 5321 asks for 1,000 octets [default: 128KB]')
            [CompletionResult]::new('--max-recipients', '--max-recipients', [CompletionResultType]::ParameterName, 'Most recipients of one message, 1 to 100; RFC 5321 asks for 100 [default: 100]')
            [CompletionResult]::new('--max-hops', '--max-hops', [CompletionResultType]::ParameterName, 'Most Received fields of a message, 1 to 1000; one with more is in a loop and refused [default: 100]')
            [CompletionResult]::new('--smtp-auth', '--smtp-auth', [CompletionResultType]::ParameterName, 'Whether SMTP offers AUTH and takes any credentials; only while it listens on loopback [default: off]')
            [CompletionResult]::new('--max-smtp-connections-per-address', '--max-smtp-connections-per-address', [CompletionResultType]::ParameterName, 'Most SMTP connections at once from one address, 1 to 100000, at most those of its network [default: 50, or max-smtp-connections-per-network where that is less]')
            [CompletionResult]::new('--max-smtp-connections-per-network', '--max-smtp-connections-per-network', [CompletionResultType]::ParameterName, 'Most SMTP connections at once from one /24 of IPv4 or /64 of IPv6, 1 to 100000 [default: 200, or max-smtp-connections-per-address where that is more]')
            [CompletionResult]::new('--smtp-connections-per-minute', '--smtp-connections-per-minute', [CompletionResultType]::ParameterName, 'Most new SMTP connections in a minute from one address of IPv4 or /64 of IPv6, 1 to 1000000 [default: 600]')
            [CompletionResult]::new('--smtp-body-budget-per-address', '--smtp-body-budget-per-address', [CompletionResultType]::ParameterName, 'Most of smtp-body-budget for messages from one address, 64KB to 1024GB, at least max-message-size, at most that of its network [default: a quarter of smtp-body-budget, but no less than max-message-size and no more than that of its network]')
            [CompletionResult]::new('--smtp-body-budget-per-network', '--smtp-body-budget-per-network', [CompletionResultType]::ParameterName, 'Most of smtp-body-budget for messages from one /24 of IPv4 or /64 of IPv6, 64KB to 1024GB, at least max-message-size [default: half of smtp-body-budget, or max-message-size or smtp-body-budget-per-address where that is more]')
            [CompletionResult]::new('--limit-exempt', '--limit-exempt', [CompletionResultType]::ParameterName, 'Network whose SMTP clients the five limits before do not hold for; ''none'' for no network [default: 127.0.0.0/8,::1/128]')
            [CompletionResult]::new('--smtp-errors-max', '--smtp-errors-max', [CompletionResultType]::ParameterName, 'Errors (5yz replies) without a stored message between them that end an SMTP session, 1 to 1000 [default: 20]')
            [CompletionResult]::new('--smtp-idle-timeout', '--smtp-idle-timeout', [CompletionResultType]::ParameterName, 'How long an SMTP client may keep silent, 100ms to 1h [default: 5m]')
            [CompletionResult]::new('--smtp-reply-timeout', '--smtp-reply-timeout', [CompletionResultType]::ParameterName, 'How long an SMTP client may take to read the replies to what it has sent, 100ms to 1h [default: 5m]')
            [CompletionResult]::new('--smtp-command-timeout', '--smtp-command-timeout', [CompletionResultType]::ParameterName, 'How long an SMTP client may take for a whole command line, 100ms to 1h [default: 5m]')
            [CompletionResult]::new('--smtp-message-timeout', '--smtp-message-timeout', [CompletionResultType]::ParameterName, 'How long an SMTP transaction may take from MAIL on, unless its message keeps smtp-min-rate, 100ms to 1d [default: 10m]')
            [CompletionResult]::new('--smtp-min-rate', '--smtp-min-rate', [CompletionResultType]::ParameterName, 'Octets of a message in a second that give it more time than smtp-message-timeout, 1 to 1000000 [default: 500]')
            [CompletionResult]::new('--smtp-session-life', '--smtp-session-life', [CompletionResultType]::ParameterName, 'How long an SMTP session may last; it ends between transactions, 100ms to 7d [default: 1h]')
            [CompletionResult]::new('--smtp-stress-timeout', '--smtp-stress-timeout', [CompletionResultType]::ParameterName, 'In place of these timeouts while more than 3/4 of max-smtp-connections are taken, and of those for messages while more than 3/4 of smtp-body-budget are, 100ms to 5m [default: 10s]')
            [CompletionResult]::new('--refuse-client', '--refuse-client', [CompletionResultType]::ParameterName, 'Network whose clients get 554 in place of a greeting [default: none]')
            [CompletionResult]::new('--refuse-sender-domain', '--refuse-sender-domain', [CompletionResultType]::ParameterName, 'Domain from which no mail is taken, by the reverse-path: a name, or ''*.NAME'' for all below it [default: none]')
            [CompletionResult]::new('--accept-local-part', '--accept-local-part', [CompletionResultType]::ParameterName, 'Local part that mail is taken for, ''*'' for any characters and ''?'' for one; postmaster and role addresses always are [default: all]')
            [CompletionResult]::new('--max-messages-per-mailbox', '--max-messages-per-mailbox', [CompletionResultType]::ParameterName, 'Most messages in one mailbox, 0 to 1000000; 0: no cap [default: 0]')
            [CompletionResult]::new('--max-messages-per-domain', '--max-messages-per-domain', [CompletionResultType]::ParameterName, 'Most messages in all mailboxes of one domain, 0 to 1000000000; 0: no cap [default: 0]')
            [CompletionResult]::new('--mailbox-full', '--mailbox-full', [CompletionResultType]::ParameterName, 'Whether a message for a full mailbox is refused for now or takes the place of the mailbox''s oldest [default: reject]')
            [CompletionResult]::new('--tls-cert', '--tls-cert', [CompletionResultType]::ParameterName, 'Certificate in PEM with the chain behind it; read again when it changes and at SIGHUP [default: none]')
            [CompletionResult]::new('--tls-key', '--tls-key', [CompletionResultType]::ParameterName, 'Private key of tls-cert in PEM: RSA, EC or Ed25519 [default: none; the file of tls-cert where that is set]')
            [CompletionResult]::new('--tls-self-signed', '--tls-self-signed', [CompletionResultType]::ParameterName, 'Make a certificate at the start that nobody has signed, for development [default: false]')
            [CompletionResult]::new('--tls-handshake-timeout', '--tls-handshake-timeout', [CompletionResultType]::ParameterName, 'How long a TLS handshake may take, 100ms to 5m [default: 10s]')
            [CompletionResult]::new('--http-listen', '--http-listen', [CompletionResultType]::ParameterName, 'Address that HTTP listens on; port 0 lets the system choose [default: 127.0.0.1:8080,[::1]:8080]')
            [CompletionResult]::new('--page-size-default', '--page-size-default', [CompletionResultType]::ParameterName, 'Messages on a page when the caller names no limit, 1 to 300, at most page-size-max [default: 20]')
            [CompletionResult]::new('--page-size-max', '--page-size-max', [CompletionResultType]::ParameterName, 'Most messages on a page, 1 to 300, with revision 1 at most 100 [default: 100]')
            [CompletionResult]::new('--http-allowed-hosts', '--http-allowed-hosts', [CompletionResultType]::ParameterName, 'Host name or address, without port, that HTTP answers to beside loopback ones while it listens on loopback only [default: none]')
            [CompletionResult]::new('--http-allowed-origins', '--http-allowed-origins', [CompletionResultType]::ParameterName, 'Origin whose web pages may read answers, such as https://app.example; ''*'' for any, ''none'' for no other [default: any, but only loopback ones while HTTP listens on loopback only]')
            [CompletionResult]::new('--rate-limit', '--rate-limit', [CompletionResultType]::ParameterName, 'HTTP requests per minute and client address, 1 to 10000000, or ''off'' [default: 10000; revision 1: off]')
            [CompletionResult]::new('--max-http-connections', '--max-http-connections', [CompletionResultType]::ParameterName, 'Most HTTP connections at once, 1 to 100000 [default: 1000]')
            [CompletionResult]::new('--domain', '--domain', [CompletionResultType]::ParameterName, 'Domain that mail is received for without asking DNS: a name, ''*.NAME'' for all below it, or ''*'' for every one [default: none; example.test while there is neither a domain nor an mx-host]')
            [CompletionResult]::new('--accept-any-domain', '--accept-any-domain', [CompletionResultType]::ParameterName, 'Permit a domain with ''*'' although SMTP can be reached from other machines [default: false]')
            [CompletionResult]::new('--mx-host', '--mx-host', [CompletionResultType]::ParameterName, 'Name that the MX record of a registered domain must point to; without one no domain can be registered [default: none]')
            [CompletionResult]::new('--verify-every', '--verify-every', [CompletionResultType]::ParameterName, 'How often the MX record of each registered domain is verified, 1s to 30d [default: 12h; revision 1: 1d]')
            [CompletionResult]::new('--resolver', '--resolver', [CompletionResultType]::ParameterName, 'DNS server to ask, port 53 if none is named [default: those of the system]')
            [CompletionResult]::new('--public-address', '--public-address', [CompletionResultType]::ParameterName, 'Address of this service beside those that its mx-host names resolve to, for hosts behind NAT [default: none]')
            [CompletionResult]::new('--max-domains', '--max-domains', [CompletionResultType]::ParameterName, 'Most domains that can be registered, 0 to 1000000 [default: 10000]')
            [CompletionResult]::new('--webhook-allow', '--webhook-allow', [CompletionResultType]::ParameterName, 'Network that webhooks may be sent to although it is not public, such as 10.0.0.0/8 [default: none]')
            [CompletionResult]::new('--webhook-refused-ports', '--webhook-refused-ports', [CompletionResultType]::ParameterName, 'Port that no webhook is sent to, 1 to 65535; 25, 465 and 587 never are [default: none]')
            [CompletionResult]::new('--webhook-schedule', '--webhook-schedule', [CompletionResultType]::ParameterName, 'Waits between the attempts of an event, 10ms to 1d each, 1 to 20 of them; the last one repeats [default: 5s,30s,2m,10m,30m,1h]')
            [CompletionResult]::new('--webhook-timeout', '--webhook-timeout', [CompletionResultType]::ParameterName, 'How long an attempt may take, 100ms to 2m [default: 15s]')
            [CompletionResult]::new('--webhook-grace', '--webhook-grace', [CompletionResultType]::ParameterName, 'How long after its message has expired an event is still attempted, 0s to 30d [default: 1d]')
            [CompletionResult]::new('--webhook-idle', '--webhook-idle', [CompletionResultType]::ParameterName, 'How long a webhook is kept without any mail for it, 1s to 365d [default: 30d]')
            [CompletionResult]::new('--max-webhooks-per-recipient', '--max-webhooks-per-recipient', [CompletionResultType]::ParameterName, 'Most webhooks of one address, 0 to 1000 [default: 10]')
            [CompletionResult]::new('--max-webhooks-per-client', '--max-webhooks-per-client', [CompletionResultType]::ParameterName, 'Most webhooks that one client has registered, an address of IPv4 or a /64 of IPv6, 1 to 1000000 [default: 100]')
            [CompletionResult]::new('--webhook-registrations-per-minute', '--webhook-registrations-per-minute', [CompletionResultType]::ParameterName, 'Most registrations of webhooks in a minute by one client, 1 to 1000000 [default: 60]')
            [CompletionResult]::new('--webhook-unproven-life', '--webhook-unproven-life', [CompletionResultType]::ParameterName, 'How long a webhook is kept whose receiver has never taken an event, 1s to 365d [default: 2d]')
            [CompletionResult]::new('--max-webhooks', '--max-webhooks', [CompletionResultType]::ParameterName, 'Most webhooks in all, 0 to 1000000 [default: 10000]')
            [CompletionResult]::new('--outbox-events', '--outbox-events', [CompletionResultType]::ParameterName, 'Most events that wait for one webhook, 1 to 100000; beyond, the oldest is dropped [default: 1000]')
            [CompletionResult]::new('--outbox-size-per-webhook', '--outbox-size-per-webhook', [CompletionResultType]::ParameterName, 'Most octets of the messages that wait for one webhook, 1MB to 10GB [default: 64MB]')
            [CompletionResult]::new('--outbox-size', '--outbox-size', [CompletionResultType]::ParameterName, 'Most octets of the messages that wait for all webhooks, 1MB to 1024GB [default: 1GB]')
            [CompletionResult]::new('--webhook-in-flight', '--webhook-in-flight', [CompletionResultType]::ParameterName, 'Most attempts under way at once, 1 to 10000; those that take longer than 250ms have 1024 places of their own [default: 128]')
            [CompletionResult]::new('--webhook-per-address-per-minute', '--webhook-per-address-per-minute', [CompletionResultType]::ParameterName, 'Most attempts per minute at one address and port that has taken an event, whatever names lead there, 1 to 1000000 [default: 6000]')
            [CompletionResult]::new('--segment-size', '--segment-size', [CompletionResultType]::ParameterName, 'Size of a file of the journal, 1MB to 1GB, at least twice max-message-size [default: 64MB, or twice max-message-size where that is more]')
            [CompletionResult]::new('--index-cache-size', '--index-cache-size', [CompletionResultType]::ParameterName, 'Memory for parts of the index, 1MB to 2GB [default: 32MB]')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;inbox' {
            [CompletionResult]::new('--page', '--page', [CompletionResultType]::ParameterName, 'Which page, from 1')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Mails per page; the service has a default and a maximum')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;read' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--latest', '--latest', [CompletionResultType]::ParameterName, 'The newest mail of the address')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'The HTML body and nothing else')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'The message as received, and nothing else')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;delete' {
            [CompletionResult]::new('--id', '--id', [CompletionResultType]::ParameterName, 'The id of a mail; several may follow')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what would go, and delete nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;send-test' {
            [CompletionResult]::new('--smtp', '--smtp', [CompletionResultType]::ParameterName, 'Host and port of SMTP [default: the daemon''s listener; with --server port 2525 of its host]')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;domain' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Register a domain whose MX record points at this service')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the domains')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List the domains')
            [CompletionResult]::new('check-dns', 'check-dns', [CompletionResultType]::ParameterValue, 'Ask DNS whether the MX record of a domain points at this service')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the MX records of registered domains now, as happens every period')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Receive no more mail for a domain')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Receive no more mail for a domain')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;domain;add' {
            [CompletionResult]::new('--owner', '--owner', [CompletionResultType]::ParameterName, 'Name of the owner')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'Contact address of the owner')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--skip-dns-check', '--skip-dns-check', [CompletionResultType]::ParameterName, 'Never ask DNS about this domain, now or later; for the administrator')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;domain;list' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--active', '--active', [CompletionResultType]::ParameterName, 'Only the names of active domains, without wildcards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;domain;ls' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--active', '--active', [CompletionResultType]::ParameterName, 'Only the names of active domains, without wildcards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;domain;check-dns' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;domain;verify' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Deactivate however many domains are found to point elsewhere')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;domain;remove' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;domain;rm' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;domain;help' {
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Register a domain whose MX record points at this service')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the domains')
            [CompletionResult]::new('check-dns', 'check-dns', [CompletionResultType]::ParameterValue, 'Ask DNS whether the MX record of a domain points at this service')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the MX records of registered domains now, as happens every period')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Receive no more mail for a domain')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;domain;help;add' {
            break
        }
        'tempmail;domain;help;list' {
            break
        }
        'tempmail;domain;help;check-dns' {
            break
        }
        'tempmail;domain;help;verify' {
            break
        }
        'tempmail;domain;help;remove' {
            break
        }
        'tempmail;domain;help;help' {
            break
        }
        'tempmail;webhook' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Send mail for an address to a URL as it arrives')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the webhooks of an address, or all of them')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List the webhooks of an address, or all of them')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete webhooks, with the events that they have not been told')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Delete webhooks, with the events that they have not been told')
            [CompletionResult]::new('deliveries', 'deliveries', [CompletionResultType]::ParameterValue, 'Show the attempts to tell a webhook of mail, newest first')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Send events to a webhook again, under their own webhook-id')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Send a sample event to a webhook now and show the attempt')
            [CompletionResult]::new('listen', 'listen', [CompletionResultType]::ParameterValue, 'POST mail to a local URL as it arrives, as a webhook would, without registering one')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;webhook;add' {
            [CompletionResult]::new('--secret-file', '--secret-file', [CompletionResultType]::ParameterName, 'File with the secret that payloads are signed with, - for standard input; one final line end is no part of it')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;list' {
            [CompletionResult]::new('--origin', '--origin', [CompletionResultType]::ParameterName, 'Only those of the scheme, host and port of this URL')
            [CompletionResult]::new('--domain', '--domain', [CompletionResultType]::ParameterName, 'Only those of addresses of this domain')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Those of all addresses. For the administrator')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;ls' {
            [CompletionResult]::new('--origin', '--origin', [CompletionResultType]::ParameterName, 'Only those of the scheme, host and port of this URL')
            [CompletionResult]::new('--domain', '--domain', [CompletionResultType]::ParameterName, 'Only those of addresses of this domain')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Those of all addresses. For the administrator')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;remove' {
            [CompletionResult]::new('--origin', '--origin', [CompletionResultType]::ParameterName, 'All of the scheme, host and port of this URL. For the administrator')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;rm' {
            [CompletionResult]::new('--origin', '--origin', [CompletionResultType]::ParameterName, 'All of the scheme, host and port of this URL. For the administrator')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;deliveries' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Attempts at most')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;replay' {
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Every event that the log shows attempted since then: RFC 3339, ''YYYY-MM-DD HH:MM:SS'' (UTC), or how long ago, such as 2h')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--failed', '--failed', [CompletionResultType]::ParameterName, 'Every event that waits no more and that the log does not show as delivered at last')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;test' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;listen' {
            [CompletionResult]::new('--forward-to', '--forward-to', [CompletionResultType]::ParameterName, 'Where to POST; private and loopback addresses are fine, the ports of mail (25, 465, 587) are not')
            [CompletionResult]::new('--secret-file', '--secret-file', [CompletionResultType]::ParameterName, 'File with the secret that payloads are signed with, - for standard input; one final line end is no part of it')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;webhook;help' {
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Send mail for an address to a URL as it arrives')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the webhooks of an address, or all of them')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete webhooks, with the events that they have not been told')
            [CompletionResult]::new('deliveries', 'deliveries', [CompletionResultType]::ParameterValue, 'Show the attempts to tell a webhook of mail, newest first')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Send events to a webhook again, under their own webhook-id')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Send a sample event to a webhook now and show the attempt')
            [CompletionResult]::new('listen', 'listen', [CompletionResultType]::ParameterValue, 'POST mail to a local URL as it arrives, as a webhook would, without registering one')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;webhook;help;add' {
            break
        }
        'tempmail;webhook;help;list' {
            break
        }
        'tempmail;webhook;help;remove' {
            break
        }
        'tempmail;webhook;help;deliveries' {
            break
        }
        'tempmail;webhook;help;replay' {
            break
        }
        'tempmail;webhook;help;test' {
            break
        }
        'tempmail;webhook;help;listen' {
            break
        }
        'tempmail;webhook;help;help' {
            break
        }
        'tempmail;db' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check whether the store is whole: every record, every row, and whether they agree')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show how much is kept: mail, domains, webhooks, and what the files take')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Give the space of what is gone back to the file system')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Back up everything that is there now: mail, domains, webhooks')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Replace the store by that of a backup')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;db;check' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--salvage', '--salvage', [CompletionResultType]::ParameterName, 'Go on without what is damaged, after a question or with --yes')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;db;stats' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;db;compact' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;db;backup' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;db;restore' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--with-events', '--with-events', [CompletionResultType]::ParameterName, 'Also what webhooks had not been told when the backup was made')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;db;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check whether the store is whole: every record, every row, and whether they agree')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show how much is kept: mail, domains, webhooks, and what the files take')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Give the space of what is gone back to the file system')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Back up everything that is there now: mail, domains, webhooks')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Replace the store by that of a backup')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;db;help;check' {
            break
        }
        'tempmail;db;help;stats' {
            break
        }
        'tempmail;db;help;compact' {
            break
        }
        'tempmail;db;help;backup' {
            break
        }
        'tempmail;db;help;restore' {
            break
        }
        'tempmail;db;help;help' {
            break
        }
        'tempmail;status' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;completions' {
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Write a file for every shell into this directory')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;man' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the output [default: for people on a terminal, tab-separated lines in a pipe]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as --output json: the fields of the HTTP interface')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints on standard error, only errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on standard error, for example which way the service was reached; twice for more')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before deleting')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tempmail;help' {
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Run the service: receive mail over SMTP and answer over HTTP')
            [CompletionResult]::new('inbox', 'inbox', [CompletionResultType]::ParameterValue, 'List the mail of an address, newest first')
            [CompletionResult]::new('read', 'read', [CompletionResultType]::ParameterValue, 'Show one mail')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete mail: all of an address, or single mails by id')
            [CompletionResult]::new('send-test', 'send-test', [CompletionResultType]::ParameterValue, 'Send a small mail through SMTP and say where it ended')
            [CompletionResult]::new('domain', 'domain', [CompletionResultType]::ParameterValue, 'Add, list, check and remove the domains that mail is received for')
            [CompletionResult]::new('webhook', 'webhook', [CompletionResultType]::ParameterValue, 'Send mail to a URL as it arrives, by POST and with a signature')
            [CompletionResult]::new('db', 'db', [CompletionResultType]::ParameterValue, 'Check, measure, compact, back up and restore the mail store')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show where the service listens, what it keeps and its limits')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell, or write those of every shell into a directory')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write the pages of every command into a directory')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;help;serve' {
            break
        }
        'tempmail;help;inbox' {
            break
        }
        'tempmail;help;read' {
            break
        }
        'tempmail;help;delete' {
            break
        }
        'tempmail;help;send-test' {
            break
        }
        'tempmail;help;domain' {
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Register a domain whose MX record points at this service')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the domains')
            [CompletionResult]::new('check-dns', 'check-dns', [CompletionResultType]::ParameterValue, 'Ask DNS whether the MX record of a domain points at this service')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the MX records of registered domains now, as happens every period')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Receive no more mail for a domain')
            break
        }
        'tempmail;help;domain;add' {
            break
        }
        'tempmail;help;domain;list' {
            break
        }
        'tempmail;help;domain;check-dns' {
            break
        }
        'tempmail;help;domain;verify' {
            break
        }
        'tempmail;help;domain;remove' {
            break
        }
        'tempmail;help;webhook' {
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Send mail for an address to a URL as it arrives')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the webhooks of an address, or all of them')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete webhooks, with the events that they have not been told')
            [CompletionResult]::new('deliveries', 'deliveries', [CompletionResultType]::ParameterValue, 'Show the attempts to tell a webhook of mail, newest first')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Send events to a webhook again, under their own webhook-id')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Send a sample event to a webhook now and show the attempt')
            [CompletionResult]::new('listen', 'listen', [CompletionResultType]::ParameterValue, 'POST mail to a local URL as it arrives, as a webhook would, without registering one')
            break
        }
        'tempmail;help;webhook;add' {
            break
        }
        'tempmail;help;webhook;list' {
            break
        }
        'tempmail;help;webhook;remove' {
            break
        }
        'tempmail;help;webhook;deliveries' {
            break
        }
        'tempmail;help;webhook;replay' {
            break
        }
        'tempmail;help;webhook;test' {
            break
        }
        'tempmail;help;webhook;listen' {
            break
        }
        'tempmail;help;db' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check whether the store is whole: every record, every row, and whether they agree')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show how much is kept: mail, domains, webhooks, and what the files take')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Give the space of what is gone back to the file system')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Back up everything that is there now: mail, domains, webhooks')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Replace the store by that of a backup')
            break
        }
        'tempmail;help;db;check' {
            break
        }
        'tempmail;help;db;stats' {
            break
        }
        'tempmail;help;db;compact' {
            break
        }
        'tempmail;help;db;backup' {
            break
        }
        'tempmail;help;db;restore' {
            break
        }
        'tempmail;help;status' {
            break
        }
        'tempmail;help;completions' {
            break
        }
        'tempmail;help;man' {
            break
        }
        'tempmail;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
