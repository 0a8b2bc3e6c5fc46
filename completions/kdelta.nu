# Completion of kdelta for Nushell. Every answer comes from `kdelta __complete`.
#
# It is an external completer in front of the one that is set already, if there is one.

def __kdelta_complete [spans: list<string>] {
    let program = if (which $spans.0 | is-empty) { 'kdelta' } else { $spans.0 }
    let answer = (^$program __complete ...($spans | skip 1) | complete)
    let lines = ($answer.stdout | lines)
    if ($lines | is-empty) { return [] }
    let directive = ($lines | last | str replace ':' '' | into int)
    # Without the third bit files are wanted, which Nushell completes where it is told nothing.
    if ($directive | bits and 4) == 0 { return null }
    $lines | drop 1 | each {|line|
        let parts = ($line | split row "\t" --number 2)
        { value: $parts.0, description: ($parts | get 1? | default '') }
    }
}

$env.config.completions.external.enable = true
$env.config.completions.external.completer = (
    do {|others|
        {|spans: list<string>|
            if ($spans.0 | path basename) in ['kdelta', 'kubectl-delta'] {
                __kdelta_complete $spans
            } else if $others != null {
                do $others $spans
            }
        }
    } $env.config.completions.external.completer?
)
