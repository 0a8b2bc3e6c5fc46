# Completion of kdelta for PowerShell 5.1 or newer. Every answer comes from `kdelta __complete`.

Register-ArgumentCompleter -Native -CommandName 'kdelta', 'kubectl-delta' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @()
    foreach ($element in $commandAst.CommandElements) {
        if ($element.Extent.EndOffset -lt $cursorPosition) {
            $words += "$element"
        }
    }
    $program = 'kdelta'
    if ($words.Count -gt 0 -and (Get-Command -Name $words[0] -CommandType Application -ErrorAction SilentlyContinue)) {
        $program = $words[0]
    }
    $arguments = @('__complete') + @($words | Select-Object -Skip 1)
    if ($wordToComplete -eq '' -and ($PSVersionTable.PSVersion -lt [version]'7.3' -or $PSNativeCommandArgumentPassing -eq 'Legacy')) {
        # These would drop an empty argument.
        $arguments += '""'
    } else {
        $arguments += $wordToComplete
    }
    $lines = @(& $program @arguments 2>$null)
    if ($lines.Count -eq 0 -or $lines[-1] -notmatch '^:\d+$') {
        return
    }
    $directive = [int]$lines[-1].Substring(1)
    $space = if ($directive -band 2) { '' } else { ' ' }
    $found = @($lines | Select-Object -SkipLast 1)
    foreach ($line in $found) {
        $value, $help = $line -split "`t", 2
        if (-not $help) { $help = $value }
        # A list of several is completed as far as they agree: a space is for the only one.
        $end = if ($found.Count -eq 1) { $space } else { '' }
        [System.Management.Automation.CompletionResult]::new("$value$end", $value, 'ParameterValue', $help)
    }
    if ($found.Count -eq 0 -and ($directive -band 4)) {
        # Nothing, and no files either.
        ''
    }
}
