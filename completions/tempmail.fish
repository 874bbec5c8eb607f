# fish completion of tempmail. The program itself says what may stand at the cursor; see `tempmail help commands`.

function __tempmail_complete
    set -l program (string replace -r '^~/' $HOME/ -- (commandline -opc)[1])
    # A program in a directory of strangers must not run before Enter is pressed.
    string match -q '/*' -- $program; or set program tempmail
    set -l line (commandline -cp | string collect)
    for row in (command $program __complete "$line" 2>/dev/null </dev/null)
        switch $row
            case \tfile \tdirectory
                set -l token (commandline -ct)
                set -l flag (string match -r -- '^--[^=]*=' $token)
                set -l paths
                if test $row = \tfile
                    set paths (__fish_complete_path (string replace -- "$flag" '' $token))
                else
                    set paths (__fish_complete_directories (string replace -- "$flag" '' $token))
                end
                printf '%s\n' "$flag"$paths
            case '*'
                printf '%s\n' $row
        end
    end
end

complete -c tempmail -k -f -a '(__tempmail_complete)'
