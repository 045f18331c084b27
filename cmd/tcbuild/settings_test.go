package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settingsReference is made from the flags of the commands.
const settingsReference = "../../docs/SETTINGS.md"

// settingsHead has backquotes as @.
const settingsHead = `# Settings

Every setting. Generated: @go test ./cmd/tcbuild -run TestSettingsReference -update@ rewrites it.

@--config FILE@ names a YAML file. A setting has the name and values of a flag: @log_format@ is
@--log-format@. A flag takes precedence over @key=value@ on the command line, and that over the file.

@@@yaml
root: ${oc.env:SCRATCH,.}/data
graph: yeast/graph
perturbations: {file: screen.tsv, genes_columns: [gene_a, gene_b]}
@@@

- Paths are relative to the working directory, not to the file.
- Settings of a perturbation set may be in a section @perturbations@, with its file as @file@: on the
  command line, @perturbations.file=screen.tsv@. A key that is given twice is an error.
- @${oc.env:NAME,default}@ stands for an environment variable. Its value is one text, and is never
  recorded in a dataset.
- On the command line, a value that starts with @[@, @{@ or a quote is YAML; zsh wants quotes around
  it. A text in place of a list is a list of one.
- Numbers are decimal: @010@, @0x10@ and @1_000@ are errors.
- A key without a value keeps its default. @~@ and @null@ are errors: as texts, they need quotes.
- An unknown key is an error. Settings of other commands in a file are ignored, and the log says so.

*Builds* are bench, dataset, incidence and rebuild; *rebuild* stands for its steps, too.

| key | commands | value | default | meaning |
| --- | --- | --- | --- | --- |
`

// shownCommands are the commands that read a setting, as the reference names them. The steps of
// rebuild have all flags that rebuild shares with commands that build.
func shownCommands(names []string) string {
	isStep := func(name string) bool { return strings.HasPrefix(name, "rebuild ") }
	if slices.Contains(names, "rebuild") {
		names = slices.DeleteFunc(names, isStep)
	}
	slices.Sort(names)
	return strings.Replace(strings.Join(names, ", "), "bench, dataset, incidence, rebuild", "builds", 1)
}

// mostKeys limits the settings: a table is reshaped in Python.
const mostKeys = 55

var defaultInText = regexp.MustCompile(` \(default:? ([^)]*)\)$`)

// settingRow is a row of the reference.
type settingRow struct{ key, value, byDefault, meaning string }

func rowOf(key string, flag *pflag.Flag) settingRow {
	argument, usage := pflag.UnquoteUsage(flag)
	kinds := map[string]string{"string": "text", "int": "whole number", "uint64": "whole number",
		"float64": "number", "bool": "true or false", "stringSlice": "list of text"}
	value := kinds[flag.Value.Type()]
	if choice, ok := flag.Value.(*flagValue); ok && choice.words != nil {
		value = strings.Join(choice.words, ", ")
	} else if value == "text" && argument != "string" {
		value = argument
	}
	row := settingRow{key: key, value: value, meaning: defaultInText.ReplaceAllString(usage, "")}
	if match := defaultInText.FindStringSubmatch(usage); match != nil {
		row.byDefault = match[1]
	} else if _, required := flag.Annotations[cobra.BashCompOneRequiredFlag]; required {
		row.byDefault = "required"
	} else if value := strings.Trim(flag.DefValue, "[]"); value != "" && value != "0" {
		row.byDefault = "`" + value + "`"
	}
	return row
}

func TestSettingsReference(t *testing.T) {
	commands := make(map[settingRow][]string)
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		flags, _ := settableFlags(cmd.LocalNonPersistentFlags())
		name := strings.TrimPrefix(cmd.CommandPath(), "tcbuild ")
		if !cmd.HasParent() {
			flags, _ = settableFlags(cmd.PersistentFlags())
			name = "all"
		}
		for key, flag := range flags {
			if key != "version" {
				row := rowOf(key, flag)
				commands[row] = append(commands[row], name)
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.Name() != "completion" {
				add(sub)
			}
		}
	}
	add(newRoot(newEnv(io.Discard, io.Discard)))
	rows := slices.SortedFunc(maps.Keys(commands), func(a, b settingRow) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.meaning, b.meaning),
			strings.Compare(a.byDefault, b.byDefault), strings.Compare(a.value, b.value))
	})
	text, keys := strings.ReplaceAll(settingsHead, "@", "`"), make(map[string]bool)
	for _, row := range rows {
		keys[row.key] = true
		cells := []string{"`" + row.key + "`", shownCommands(commands[row]), row.value,
			row.byDefault, row.meaning}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		text += fmt.Sprintf("| %s |\n", strings.Join(cells, " | "))
	}
	if len(keys) > mostKeys {
		t.Errorf("found %d settings, expected at most %d: %q", len(keys), mostKeys,
			slices.Sorted(maps.Keys(keys)))
	}
	if *update {
		if err := os.WriteFile(settingsReference, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if read(t, settingsReference) != text {
		t.Error("docs/SETTINGS.md is not what the program has; run: go test ./cmd/tcbuild -run " +
			"TestSettingsReference -update")
	}
}
