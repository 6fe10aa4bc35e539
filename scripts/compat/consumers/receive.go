package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/golang/snappy"
	"github.com/prometheus/otlptranslator"
	"github.com/prometheus/prometheus/prompb"
	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

const bodyBytesMax = 4 << 20 // What a collector takes by default.

type receiver struct {
	mutex sync.Mutex
	out   *json.Encoder
	seen  map[string]bool
}

func receive(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	it := &receiver{out: json.NewEncoder(file), seen: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/write", it.guarded(it.remoteWrite))
	mux.HandleFunc("POST /v1/metrics", it.guarded(it.otlp))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, mux)
}

// Each path is in trouble once: a sender has to come again.
func (it *receiver) guarded(handle func(http.ResponseWriter, *http.Request, []byte) error) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		it.mutex.Lock()
		defer it.mutex.Unlock()
		body, err := io.ReadAll(io.LimitReader(request.Body, bodyBytesMax+1))
		if err == nil && len(body) > bodyBytesMax {
			err = fmt.Errorf("a message of more than %d bytes", bodyBytesMax)
		}
		if err == nil && !it.seen[request.URL.Path] {
			it.seen[request.URL.Path] = true
			http.Error(writer, "just starting", http.StatusServiceUnavailable)
			return
		}
		if err == nil {
			err = handle(writer, request, body)
		}
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
		}
	}
}

func wants(request *http.Request, headers map[string]string) error {
	for name, value := range headers {
		if got := request.Header.Get(name); got != value {
			return fmt.Errorf("%s is %q and should be %q", name, got, value)
		}
	}
	return nil
}

func (it *receiver) remoteWrite(writer http.ResponseWriter, request *http.Request, body []byte) error {
	if err := wants(request, map[string]string{
		"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0",
	}); err != nil {
		return err
	}
	plain, err := snappy.Decode(nil, body)
	if err != nil {
		return err
	}
	var message prompb.WriteRequest
	if err := message.Unmarshal(plain); err != nil {
		return err
	}
	kinds := map[string]string{}
	for _, about := range message.Metadata {
		kinds[about.MetricFamilyName] = strings.ToLower(about.Type.String())
	}
	for _, series := range message.Timeseries {
		if err := it.series(series, kinds); err != nil {
			return err
		}
	}
	writer.WriteHeader(http.StatusNoContent)
	return nil
}

func (it *receiver) series(series prompb.TimeSeries, kinds map[string]string) error {
	with := map[string]string{}
	names := []string{}
	for _, label := range series.Labels {
		if label.Name == "" || label.Value == "" {
			return fmt.Errorf("an empty label in %v", series.Labels)
		}
		with[label.Name] = label.Value
		names = append(names, label.Name)
	}
	if !slices.IsSorted(names) || len(with) != len(names) {
		return fmt.Errorf("labels are not in order, or twice: %v", names)
	}
	name := with["__name__"]
	delete(with, "__name__")
	kind, ok := kinds[name]
	for _, end := range []string{"_bucket", "_sum", "_count"} {
		if base, found := strings.CutSuffix(name, end); found && kinds[base] == "histogram" {
			kind, ok = "histogram", true
		}
	}
	if !ok {
		kind = "unknown"
	}
	for _, at := range series.Samples {
		if err := it.out.Encode(sample{"remote", name, with, number(at.Value), at.Timestamp, kind}); err != nil {
			return err
		}
	}
	return nil
}

func (it *receiver) otlp(writer http.ResponseWriter, request *http.Request, body []byte) error {
	if err := wants(request, map[string]string{"Content-Type": "application/x-protobuf"}); err != nil {
		return err
	}
	var message collector.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &message); err != nil {
		return err
	}
	if unknown := message.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		return fmt.Errorf("fields that OTLP does not have")
	}
	for _, resource := range message.ResourceMetrics {
		about := attributes(resource.Resource.GetAttributes())
		if about["service_name"] != "proofload" {
			return fmt.Errorf("the resource is %v", about)
		}
		for _, scope := range resource.ScopeMetrics {
			for _, metric := range scope.Metrics {
				if err := it.metric(metric); err != nil {
					return err
				}
			}
		}
	}
	answer, err := proto.Marshal(&collector.ExportMetricsServiceResponse{})
	if err != nil {
		return err
	}
	writer.Header().Set("Content-Type", "application/x-protobuf")
	_, err = writer.Write(answer)
	return err
}

func (it *receiver) metric(metric *metrics.Metric) error {
	namer := otlptranslator.MetricNamer{WithMetricSuffixes: true}
	about := otlptranslator.Metric{Name: metric.Name, Unit: metric.Unit}
	var points []*metrics.NumberDataPoint
	kind := ""
	switch data := metric.Data.(type) {
	case *metrics.Metric_Gauge:
		kind, about.Type, points = "gauge", otlptranslator.MetricTypeGauge, data.Gauge.DataPoints
	case *metrics.Metric_Sum:
		if !data.Sum.IsMonotonic || data.Sum.AggregationTemporality != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
			return fmt.Errorf("%s is no counter", metric.Name)
		}
		kind, about.Type, points = "counter", otlptranslator.MetricTypeMonotonicCounter, data.Sum.DataPoints
	case *metrics.Metric_Histogram:
		about.Type = otlptranslator.MetricTypeHistogram
	default:
		return fmt.Errorf("%s has no data that is known here", metric.Name)
	}
	name, err := namer.Build(about)
	if err != nil {
		return err
	}
	for _, point := range points {
		value := point.GetAsDouble()
		if count, ok := point.Value.(*metrics.NumberDataPoint_AsInt); ok {
			value = float64(count.AsInt)
		}
		if err := it.point(name, kind, attributes(point.Attributes), value, point.TimeUnixNano); err != nil {
			return err
		}
	}
	return it.histogram(name, metric.GetHistogram())
}

func (it *receiver) histogram(name string, histogram *metrics.Histogram) error {
	for _, point := range histogram.GetDataPoints() {
		if len(point.BucketCounts) != len(point.ExplicitBounds)+1 {
			return fmt.Errorf("%s: %d buckets and %d bounds", name, len(point.BucketCounts), len(point.ExplicitBounds))
		}
		sum := uint64(0)
		with := attributes(point.Attributes)
		for place, count := range point.BucketCounts {
			sum += count
			bound := math.Inf(1)
			if place < len(point.ExplicitBounds) {
				bound = point.ExplicitBounds[place]
			}
			of := maps.Clone(with)
			of["le"] = number(bound)
			if err := it.point(name+"_bucket", "histogram", of, float64(sum), point.TimeUnixNano); err != nil {
				return err
			}
		}
		if sum != point.Count {
			return fmt.Errorf("%s: %d samples in buckets, and %d in all", name, sum, point.Count)
		}
		if err := it.point(name+"_count", "histogram", with, float64(point.Count), point.TimeUnixNano); err != nil {
			return err
		}
		if point.Sum != nil {
			if err := it.point(name+"_sum", "histogram", with, *point.Sum, point.TimeUnixNano); err != nil {
				return err
			}
		}
	}
	return nil
}

func (it *receiver) point(name, kind string, with map[string]string, value float64, timeNs uint64) error {
	return it.out.Encode(sample{"otlp", name, with, number(value), int64(timeNs / 1_000_000), kind})
}

// Attributes under the names that the same labels have in Prometheus.
func attributes(all []*common.KeyValue) map[string]string {
	with := map[string]string{}
	for _, it := range all {
		name := strings.TrimPrefix(it.Key, "proofload.")
		switch it.Key {
		case "http.response.status_code":
			name = "status"
		case "url.full":
			name = "target"
		}
		value := it.Value.GetStringValue()
		if number, ok := it.Value.Value.(*common.AnyValue_IntValue); ok {
			value = fmt.Sprint(number.IntValue)
		}
		with[strings.ReplaceAll(name, ".", "_")] = value
	}
	return with
}
