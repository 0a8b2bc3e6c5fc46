# Completion of kdelta for fish. Every answer comes from `kdelta __complete`.

function __kdelta_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    type -q -- $program; or set program kdelta
    set -l lines ($program __complete $words "$word" 2>/dev/null)
    set -l directive (string replace -r '^:' '' -- $lines[-1])
    string match -qr '^[0-9]+$' -- $directive; or return
    set -e lines[-1]
    # The bit that says no files is the third.
    if test (math "floor($directive / 4) % 2") -eq 0
        __fish_complete_path "$word"
        return
    end
    # Behind what ends with one of / : = fish puts no space by itself.
    string join \n -- $lines
end

for program in kdelta kubectl-delta
    complete -c $program -e
    complete -c $program -f -a '(__kdelta_complete)'
end
