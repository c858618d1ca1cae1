#!/bin/sh
# Trains the next starter model: sh tools/train_starter.sh FOLDER, after tools/starter_data.py CORPORA FOLDER.
#
# The bundled one translates Portuguese plain text forward, a run of the reverse direction translates English plain
# text back, and a first training learns from both. It and the reverse run translate sentences with rare words, with a
# dictionary as glossary, and a second training from its weights is the new model. A step whose result is in FOLDER is
# left out, and a step that was interrupted goes on: after anything that stops it, the same command continues. One
# thread. The first training may be stopped before its end: then `touch FOLDER/first.done`.

set -eu
tools=$(cd "$(dirname "$0")" && pwd)
cd "$1"

train() { # the name of the run; its config and other options
    run=$1
    shift
    [ -e "$run.done" ] || ptenmt train --run "$run" --set machine.threads=1 --set checkpoint.keep=2 --config "$@"
    touch "$run.done"
}

translate() { # the run; its input; the output; other options
    if [ ! -e "$3" ]; then
        resume=
        [ ! -e ".$3.partial" ] || resume=--resume
        ptenmt backtranslate --run "$1" --input "$2" --output "$3" --threads 1 --max-words 30 $resume $4
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

translate starter mono.pt.gz ft-all.tsv.gz "--beam-size 4"
[ -e ft.tsv.gz ] || { best ft-all.tsv.gz swap > ft.tmp && mv ft.tmp ft.tsv.gz; }
train reverse "$tools/starter_reverse.yaml" --init-from starter
translate reverse mono.en.gz bt-all.tsv.gz "--beam-size 1"
[ -e bt.tsv.gz ] || { best bt-all.tsv.gz > bt.tmp && mv bt.tmp bt.tsv.gz; }
[ -e lexicon.tsv.gz ] || ptenmt lexicon --pairs pt-en/tatoeba.tsv.gz --pairs pt-en/tatoeba_more.tsv.gz \
    --pairs pt-en/tatoeba_pivot.tsv.gz --pairs pt-en/tatoeba_lingua.tsv.gz --pairs bt.tsv.gz \
    --dictionary words.tsv.gz --source-text mono.pt.gz --output lexicon.tsv.gz
train first "$tools/starter_first.yaml"
[ -e rare-ft.tsv.gz ] || python "$tools/starter_rare_words.py" . first reverse    # 8 minutes, from the beginning
train good "$tools/../configs/good.yaml" --init-from first
