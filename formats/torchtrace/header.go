package torchtrace

import (
	"bytes"
	"strconv"

	"servescope/analyzer/trace"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// header holds the members of a trace outside its events.
type header struct {
	base      int64 // ns since the Unix epoch at ts 0
	hasBase   bool
	rank      int64 // -1 where unknown
	worldSize int64
	version   string // of the engine
	device    string
	config    []trace.Pair
}

func newHeader() header { return header{rank: -1, worldSize: -1} }

// settings lists the members of the header that are shown as they are.
var settings = map[string]bool{
	"cuda_runtime_version": true, "cuda_driver_version": true, "cupti_version": true, "hip_runtime_version": true,
	"hip_driver_version": true, "roctracer_version": true, "with_stack": true, "record_shapes": true,
	"with_flops": true, "profile_memory": true, "with_modules": true,
}

// add takes one member of the top-level object and reports whether it is used.
func (h *header) add(key string, value []byte) bool {
	switch {
	case key == "baseTimeNanoseconds":
		if ns, n, ok := numx.ParseInt(bytes.Trim(value, `"`)); ok && n > 0 && ns > 0 && ns < maxTime {
			h.base, h.hasBase = ns, true
		}
	case key == "distributedInfo":
		h.distributed(value)
	case key == "deviceProperties":
		h.devices(value)
	case key == "vllm_version":
		h.version = scalar(value)
	case settings[key]:
		h.set(key, scalar(value))
	default:
		return false
	}
	return true
}

func (h *header) set(key, value string) {
	if value != "" && len(h.config) < 32 {
		h.config = append(h.config, trace.Pair{Key: key, Value: value})
	}
}

// scalar returns a scalar value as text, "" for another one.
func scalar(value []byte) string {
	c := json.New(bytes.NewReader(value), 0, 4<<10)
	switch c.Kind() {
	case json.String:
		return shown(c.Text(maxShown))
	case json.Number, json.Bool:
		return shown(value)
	}
	return ""
}

// distributed reads distributedInfo. Its list of process groups grows with the
// deployment and is skipped.
func (h *header) distributed(value []byte) {
	c := json.New(bytes.NewReader(value), 0, 4<<10)
	if c.Kind() != json.Object {
		return
	}
	for c.Open(); c.More(); {
		key := string(c.Key(64))
		switch key {
		case "rank", "world_size", "backend", "nccl_version":
		default:
			c.Skip()
			continue
		}
		text := ""
		switch c.Kind() {
		case json.String:
			text = shown(c.Text(maxShown))
		case json.Number:
			text = shown(c.Literal())
		default:
			c.Skip()
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case key == "rank" && err == nil:
			h.rank = n
		case key == "world_size" && err == nil:
			h.worldSize = n
		}
		h.set(key, text)
	}
}

// devices reads the name of the first device.
func (h *header) devices(value []byte) {
	c := json.New(bytes.NewReader(value), 0, 4<<10)
	if c.Kind() != json.Array {
		return
	}
	for c.Open(); c.More(); {
		if c.Kind() != json.Object || h.device != "" {
			c.Skip()
			continue
		}
		for c.Open(); c.More(); {
			if string(c.Key(64)) == "name" && c.Kind() == json.String {
				h.device = shown(c.Text(maxShown))
				continue
			}
			c.Skip()
		}
	}
	h.set("device", h.device)
}
