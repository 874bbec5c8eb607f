
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show where the service listens, what it keeps and its limits')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell, or write those of every shell into a directory')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write the pages of every command into a directory')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tempmail;serve' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
        'tempmail;status' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with the administrator''s token for --server [env: TEMPMAIL_TOKEN holds the token itself]')
            [CompletionResult]::new('--data-dir', '--data-dir', [CompletionResultType]::ParameterName, 'Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]')
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
