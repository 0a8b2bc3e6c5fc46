# Completion of kdelta for bash 3.2 or newer. Every answer comes from `kdelta __complete`.

_kdelta() {
    COMPREPLY=()
    # bash splits words at = and : as well: what no blank parts is put together again.
    local line=${COMP_LINE-} piece i
    [[ -n $line ]] || line="${COMP_WORDS[*]}"
    line=${line:0:${COMP_POINT:-${#line}}}
    local words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if ((i == 0)) || [[ $line == [[:space:]]* ]]; then
            line=${line#"${line%%[![:space:]]*}"}
            words+=("")
        fi
        piece=${COMP_WORDS[i]}
        [[ $line == "$piece"* ]] || piece=$line
        words[${#words[@]}-1]+=$piece
        line=${line#"$piece"}
    done
    for ((i = 0; i < ${#words[@]}; i++)); do
        piece=${words[i]#[\"\']}
        words[i]=${piece%[\"\']}
    done

    local program=${words[0]/#\~\//$HOME/}
    type -P "$program" >/dev/null || program=kdelta
    local answer directive
    answer=$("$program" __complete "${words[@]:1}" 2>/dev/null) || return 0
    directive=${answer##*$'\n'}
    directive=${directive#:}
    [[ $directive =~ ^[0-9]+$ ]] || return 0

    # Only what follows the last of the characters that split a word is replaced.
    local word=${words[${#words[@]}-1]} breaks=${COMP_WORDBREAKS//[^=:]/} head=
    if [[ -n $breaks && $word == *["$breaks"]* ]]; then
        head=${word%"${word##*["$breaks"]}"}
    fi
    while IFS=$'\t' read -r piece _; do
        [[ $piece != :* ]] && COMPREPLY+=("${piece#"$head"}")
    done <<<"$answer"

    type compopt >/dev/null 2>&1 || return 0
    if ((directive & 2)); then
        compopt -o nospace 2>/dev/null
    fi
    if ((!(directive & 4))); then
        compopt -o default 2>/dev/null
    fi
    return 0
}

complete -F _kdelta kdelta kubectl-delta
