#!/bin/sh
# Trains the next starter model: sh tools/train_starter.sh FOLDER, after tools/starter_data.py CORPORA FOLDER.
#
# The bundled one translates Portuguese plain text forward, and sentences with rare words with a dictionary as glossary;
# a run of the reverse direction, from its weights, translates English plain text back in the same two ways; and the
# bundled weights learn from all of it. A step whose result is in FOLDER is left out, and a step that was interrupted
# goes on: after anything that stops it, the same command continues.

set -eu
tools=$(cd "$(dirname "$0")" && pwd)
cd "$1"

train() { # the name of the run; its config and other options; on a CPU without bfloat16, leave out the precision
    run=$1
    shift
    [ -e "$run.done" ] || ptenmt train --run "$run" --set checkpoint.keep=2 \
        --set machine.precision=mixed_bfloat16 --config "$@"
    touch "$run.done"
}

translate() { # the run; its input; how many of its lines; the output; the size of the beam
    if [ ! -e "$4" ]; then
        gzip -dc "$2" | head -n "$3" | awk 'NF <= 40' > "$4.lines"
        resume=
        [ ! -e ".$4.partial" ] || resume=--resume
        ptenmt backtranslate --run "$1" --input "$4.lines" --output "$4" $resume --set "decoding.beam_size=$5"
        rm "$4.lines"
    fi
}

best() { # the best-scored 75 % of a file; with "swap", the two columns change places
    [ -e "$2" ] || python -c '
import gzip, sys
rows = [line.rstrip("\n").split("\t") for line in gzip.open(sys.argv[1], "rt", encoding="utf-8")]
least = sorted(float(row[2]) for row in rows)[len(rows) // 4]
order = (1, 0) if "swap" in sys.argv else (0, 1)
for row in rows:
    if float(row[2]) >= least:
        print(row[order[0]], row[order[1]], sep="\t")
' "$@" | gzip -n > "$2.tmp"
    [ -e "$2" ] || mv "$2.tmp" "$2"
}

rare_words() { # the file; --forward or --reverse and the run
    [ -e "$1" ] || python "$tools/starter_rare_words.py" . "$2" "$3"
}

translate starter prose.pt.gz 100000 ft-prose-all.tsv.gz 4
translate starter mono.pt.gz 120000 ft-mono-all.tsv.gz 4
best ft-prose-all.tsv.gz ft-prose.tsv.gz swap
best ft-mono-all.tsv.gz ft-mono.tsv.gz swap
rare_words rare-ft.tsv.gz --forward starter

train reverse "$tools/starter_reverse.yaml" --init-from starter
translate reverse prose.en.gz 90000 bt-prose-all.tsv.gz 1
translate reverse mono.en.gz 185000 bt-mono-all.tsv.gz 1
best bt-prose-all.tsv.gz bt-prose.tsv.gz
best bt-mono-all.tsv.gz bt-mono.tsv.gz
rare_words rare-bt.tsv.gz --reverse reverse

train good "$tools/../configs/good.yaml" --init-from starter
