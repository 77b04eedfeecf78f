package records

import "testing"

func TestErrorClass(t *testing.T) {
	for text, want := range map[string]string{
		"Bad Request":                        "HTTP 400",
		"Bad Request: {\"error\": \"HTTP\"}": "HTTP 400",
		"HTTP 429 Too Many Requests: slow":   "HTTP 429",
		"http 503":                           "HTTP 503",
		"HTTP error":                         "other",
		"Never received a valid chunk to calculate TTFT.This response will be marked as failed!":                    "no valid chunk",
		"Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: my prompt is: bad\n":              "ValueError",
		"Traceback (most recent call last):\n  x\na.b.ClientPayloadError: Response payload is not completed: <x>\n": "ClientPayloadError",
		"Traceback (most recent call last):\n  x\nasyncio.exceptions.TimeoutError\n":                                "timeout",
		"Traceback (most recent call last):\n  x\nopenai.APITimeoutError: Request timed out.":                       "timeout",
		"Traceback (most recent call last):\n  File \"a.py\"":                                                       "exception",
		"Traceback (most recent call last):\n  x\njson.JSONDecodeError: two\nlines of it\n":                         "JSONDecodeError",
		"Stream error: operation timed out":                                                                         "timeout",
		"Stream error: broken pipe":                                                                                 "stream error",
		"Cannot connect to host x:1 ssl:default [Connect call failed]":                                              "connection",
		"ReadTimeout: ":               "timeout",
		"ClientOSError: [Errno 104]":  "ClientOSError",
		"please tell me about: Error": "other",
		"x":                           "other",
	} {
		if got := ErrorClass([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
