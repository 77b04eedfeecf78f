#compdef servescope
# Completion of servescope for zsh. Load it with
#   eval "$(servescope completion zsh)"
# after compinit, or save it as _servescope in a folder of $fpath.
_servescope() {
    local line
    local -a found
    for line in ${(f)"$(${(Q)words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
        found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#found )); then
        _describe servescope found
    else
        _files
    fi
}
if [[ $funcstack[1] == _servescope ]]; then
    _servescope "$@"
else
    compdef _servescope servescope
fi
