// The Go of docs/webhooks.md, by hand, against the vectors, and against what a real service sent.

package receiver

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

type vector struct {
	Name     string
	Secret   string
	Headers  map[string]string
	Body     string
	Expected struct{ Service, Standard string }
}

func vectors(t *testing.T, variable string) []vector {
	var all []vector
	for _, path := range strings.Split(os.Getenv(variable), ":") {
		var file struct{ Vectors []vector }
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		all = append(all, file.Vectors...)
	}
	return all
}

func (v vector) headers() http.Header {
	headers := http.Header{}
	for name, value := range v.Headers {
		headers.Set(name, value)
	}
	return headers
}

func TestByHand(t *testing.T) {
	for _, v := range append(vectors(t, "VECTORS"), vectors(t, "RECEIVED")...) {
		if IsGenuine([]byte(v.Body), v.headers(), v.Secret) != (v.Expected.Service == "valid") {
			t.Error(v.Name)
		}
	}
}
