package app

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"servescope/analyzer"
	"servescope/formats/source"
)

// dates reads --year and --tz. A value applies to all inputs, or with a label
// to the inputs with this label, because logs of several servers may have
// different zones.
func dates(c *cli.Context, opt *analyzer.Options) error {
	opt.Years, opt.Zones = make(map[string]int), make(map[string]*time.Location)
	for _, text := range c.StringSlice("year") {
		label, value := labelled(text)
		year, err := strconv.Atoi(value)
		if err != nil || year < 2001 || year > 2261 {
			return usagef("--year %s: give the year in which the log begins, as 2026", text)
		}
		opt.Years[label] = year
	}
	for _, text := range c.StringSlice("tz") {
		label, value := labelled(text)
		zone, err := parseZone(value)
		if err != nil {
			return usagef("--tz %s: %s", text, err).with("--tz Europe/Berlin, --tz +02:00, or --tz LABEL=+02:00 for inputs given as LABEL=FILE")
		}
		opt.Zones[label] = zone
	}
	return nil
}

// labelled splits LABEL=VALUE. The label is "" if there is none.
func labelled(text string) (label, value string) {
	if label, value, ok := strings.Cut(text, "="); ok {
		return label, value
	}
	return "", text
}

// checkLabels refuses years and zones for labels that no input has. Labels of
// operands that are read separately, such as a baseline, are accepted too.
func checkLabels(opt *analyzer.Options, inputs *source.Inputs, operands []string) error {
	for flag, labels := range map[string][]string{"--year": slices.Sorted(maps.Keys(opt.Years)), "--tz": slices.Sorted(maps.Keys(opt.Zones))} {
		for _, label := range labels {
			if label != "" && !slices.ContainsFunc(inputs.List, func(in source.Input) bool { return in.Label == label }) &&
				!slices.ContainsFunc(operands, func(o string) bool { return strings.HasPrefix(o, label+"=") }) {
				return usagef("%s %s=…: no input has the label %s", flag, label, label).with("label an input as %s=FILE", label)
			}
		}
	}
	return nil
}

// parseZone reads the name of a zone in the zone database, or an offset from
// UTC. It refuses this machine's local zone, because a report must not depend
// on the machine.
func parseZone(name string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone("UTC"+name, offset), nil
	}
	if name == "" || strings.EqualFold(name, "local") {
		return nil, errors.New("give the zone of the server")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errors.New("there is no such time zone")
	}
	return zone, nil
}
