# SPDX-License-Identifier: BSD-3-Clause
# Completion of `mortar` in bash. packaging/pages.py fills in the two tables from what the built commands say of themselves.

# _mortar_words KEY: what may be the first word of `mortar`, of a command, of `bench network`.
_mortar_words() {
    case $1 in
@WORDS@
    esac
}

# _mortar_options KEY: its options.
_mortar_options() {
    case $1 in
@OPTIONS@
    esac
}

# _mortar_values "KEY OPTION": what its value may be; nothing: it has none. The first word says what they are: words, list (with
# commas), names (a value follows behind =), files, or any.
_mortar_values() {
    case $1 in
@VALUES@
    esac
}

# _mortar_offer KIND WORD...: sets COMPREPLY to those that begin as `now` does.
_mortar_offer() {
    local kind=$1 head= part=${now#[\"\']} word
    shift
    case $kind in
    files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$part") ;;
    programs) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -c -- "$part"; compgen -f -- "$part") ;;
    list) head=${part%"${part##*,}"} part=${part##*,} ;;
    names) compopt -o nospace 2>/dev/null ;;
    esac
    for word in "$@"; do
        [[ $word == "$part"* ]] || continue
        [[ $now == [\"\']* ]] || word=$(printf %q "$word") # pull(morton)
        COMPREPLY+=("$head$word")
    done
}

# Sets `at` to the place of the program that `run` starts, or `try` behind its options; or to the word that is being written.
_mortar_find_program() {
    at=2
    while [ "$at" -lt "$COMP_CWORD" ]; do
        case ${COMP_WORDS[at]} in
        --) at=$((at + 1)); return ;;
        =) at=$((at + 2)) ;;
        -*) # its value is the next word, unless = comes first
            [ -z "$(_mortar_values "$key ${COMP_WORDS[at]}")" ] || [ "${COMP_WORDS[at + 1]}" = = ] || at=$((at + 1))
            at=$((at + 1))
            ;;
        *) return ;;
        esac
    done
    at=$COMP_CWORD
}

_mortar() {
    local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} key=${COMP_WORDS[1]} at values
    COMPREPLY=()
    # bash makes three words of --heap=on
    if [ "$now" = = ]; then now=; elif [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
    [ "$COMP_CWORD" -gt 1 ] || key=
    [ "$COMP_CWORD" -lt 3 ] || [ -z "$(_mortar_options "$key ${COMP_WORDS[2]}")" ] || key="$key ${COMP_WORDS[2]}"
    if [ "$key" = run ] || [ "$key" = try ]; then
        _mortar_find_program
        if [ "$at" -lt "$COMP_CWORD" ]; then
            if declare -F _command_offset >/dev/null; then _command_offset "$at"; else _mortar_offer files; fi
            return
        fi
    fi
    values=$(_mortar_values "$key $before")
    if [ -n "$values" ]; then
        read -r -a values <<<"$values"
        _mortar_offer "${values[@]}"
    elif [[ $now == -* ]]; then
        read -r -a values <<<"$(_mortar_options "$key")"
        _mortar_offer words "${values[@]}"
    else
        read -r -a values <<<"$(_mortar_words "$key")"
        [ "${#values[@]}" = 0 ] || _mortar_offer "${values[@]}"
    fi
}
complete -F _mortar mortar
