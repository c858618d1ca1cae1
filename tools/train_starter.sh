#!/bin/sh
# Trains the next starter model: sh tools/train_starter.sh FOLDER, after tools/starter_data.py CORPORA FOLDER.
#
# The bundled one translates Portuguese plain text forward, and sentences with rare words with a dictionary as glossary;
# a run of the reverse direction, from its weights, translates English plain text back in the same two ways; and
# the new model learns from all of it, from the bundled weights. A step whose result is in FOLDER is left out, and a
# step that was interrupted goes on: after anything that stops it, the same command continues.

set -eu
tools=$(cd "$(dirname "$0")" && pwd)
cd "$1"

train() { # the name of the run; its config and other options
    run=$1
    shift
    [ -e "$run.done" ] || ptenmt train --run "$run" --set checkpoint.keep=2 --config "$@"
    touch "$run.done"
}

translate() { # the run; its input; the output; other options
    if [ ! -e "$3" ]; then
        resume=
        [ ! -e ".$3.partial" ] || resume=--resume
        ptenmt backtranslate --run "$1" --input "$2" --output "$3" --max-words 30 $resume $4
    fi
}

best() { # the best-scored 75 % of a file; with "swap", the two columns change places
    python -c '
import gzip, sys
rows = [line.rstrip("\n").split("\t") for line in gzip.open(sys.argv[1], "rt", encoding="utf-8")]
least = sorted(float(row[2]) for row in rows)[len(rows) // 4]
order = (1, 0) if "swap" in sys.argv else (0, 1)
for row in rows:
    if float(row[2]) >= least:
        print(row[order[0]], row[order[1]], sep="\t")
' "$@" | gzip -n
}

rare_words() { # the file; --forward or --reverse and the run
    [ -e "$1" ] || python "$tools/starter_rare_words.py" . "$2" "$3"
}

translate starter mono.pt.gz ft-all.tsv.gz "--beam-size 4"
[ -e ft.tsv.gz ] || { best ft-all.tsv.gz swap > ft.tmp && mv ft.tmp ft.tsv.gz; }
rare_words rare-ft.tsv.gz --forward starter
train reverse "$tools/starter_reverse.yaml" --init-from starter
translate reverse mono.en.gz bt-all.tsv.gz "--beam-size 1"
[ -e bt.tsv.gz ] || { best bt-all.tsv.gz > bt.tmp && mv bt.tmp bt.tsv.gz; }
rare_words rare-bt.tsv.gz --reverse reverse
[ -e lexicon.tsv.gz ] || ptenmt lexicon --pairs pt-en/tatoeba.tsv.gz --pairs pt-en/tatoeba_more.tsv.gz \
    --pairs pt-en/tatoeba_pivot.tsv.gz --pairs pt-en/tatoeba_lingua.tsv.gz --pairs bt.tsv.gz \
    --dictionary words.tsv.gz --source-text mono.pt.gz --output lexicon.tsv.gz
train good "$tools/../configs/good.yaml" --init-from starter
