# bash completion of tempmail. The program itself says what may stand at the cursor; see `tempmail help commands`.

_tempmail() {
    local line=${COMP_LINE:0:COMP_POINT} row
    # bash splits words at characters such as @ and =, and replaces only what it gives as the second argument.
    local word=${line##*[[:blank:]]}
    local before=${word%"$2"}
    # A program in a directory of strangers must not run before Enter is pressed.
    local program=${1/#\~\//$HOME/}
    [[ $program == /* ]] || program=tempmail
    COMPREPLY=()
    while IFS= read -r row; do
        case $row in
            $'\tfile') compopt -o default ;;
            $'\tdirectory') compopt -o dirnames ;;
            *)
                row=${row%%$'\t'*}
                COMPREPLY+=("${row#"$before"}")
                ;;
        esac
    done < <(command "$program" __complete "$line" 2>/dev/null </dev/null)
}

complete -o nosort -F _tempmail tempmail
