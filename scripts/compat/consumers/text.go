package main

import (
	"errors"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

func readText(path string, print func(sample)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(file)
	if err != nil {
		return err
	}
	for name, family := range families {
		kind := strings.ToLower(family.GetType().String())
		for _, metric := range family.GetMetric() {
			with := map[string]string{}
			for _, pair := range metric.GetLabel() {
				with[pair.GetName()] = pair.GetValue()
			}
			print1 := func(end string, with map[string]string, value float64) {
				print(sample{"text", name + end, with, number(value), metric.GetTimestampMs(), kind})
			}
			switch family.GetType() {
			case dto.MetricType_COUNTER:
				print1("", with, metric.GetCounter().GetValue())
			case dto.MetricType_GAUGE:
				print1("", with, metric.GetGauge().GetValue())
			case dto.MetricType_HISTOGRAM:
				histogram := metric.GetHistogram()
				for _, bucket := range histogram.GetBucket() {
					labels := maps.Clone(with)
					labels["le"] = number(bucket.GetUpperBound())
					print1("_bucket", labels, float64(bucket.GetCumulativeCount()))
				}
				print1("_count", with, float64(histogram.GetSampleCount()))
				if histogram.SampleSum != nil {
					print1("_sum", with, histogram.GetSampleSum())
				}
			default:
				return errors.New(name + " has an unexpected type")
			}
		}
	}
	return nil
}

func readOpenMetrics(path string, print func(sample)) error {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parser := textparse.NewOpenMetricsParser(bytes, labels.NewSymbolTable())
	kind := ""
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch entry {
		case textparse.EntryType:
			_, it := parser.Type()
			kind = string(it)
		case textparse.EntrySeries:
			_, time, value := parser.Series()
			var all labels.Labels
			parser.Labels(&all)
			with := all.Map()
			name := with["__name__"]
			delete(with, "__name__")
			if le, ok := with["le"]; ok {
				bound, err := strconv.ParseFloat(le, 64)
				if err != nil {
					return err
				}
				with["le"] = number(bound)
			}
			it := sample{"openmetrics", name, with, number(value), 0, kind}
			if time != nil {
				it.TimeMs = *time
			}
			print(it)
		}
	}
}

// The shortest text that stands for a number, in each consumer the same.
func number(value float64) string {
	return strconv.FormatFloat(value, 'g', -1, 64)
}
