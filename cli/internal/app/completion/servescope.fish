# Completion of servescope for fish. Load it with
#   servescope completion fish | source
function __servescope_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] __complete $words[2..-1] 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c servescope -f -a '(__servescope_complete)'
