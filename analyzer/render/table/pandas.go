package table

import (
	"encoding/json"

	"servescope/analyzer/trace"
)

// Pandas returns the metadata under the key "pandas" with which pandas and
// pyarrow read the table into nullable columns. Without it pandas turns an
// integer column that has a null into floats, which rounds nanoseconds since
// the epoch to multiples of 256.
func Pandas(t *trace.Table) string {
	type column struct {
		Name     string  `json:"name"`
		Field    string  `json:"field_name"`
		Pandas   string  `json:"pandas_type"`
		Numpy    string  `json:"numpy_type"`
		Metadata *string `json:"metadata"`
	}
	meta := struct {
		Index   []string          `json:"index_columns"`
		Indexes []string          `json:"column_indexes"`
		Columns []column          `json:"columns"`
		Creator map[string]string `json:"creator"`
		Version string            `json:"pandas_version"`
	}{[]string{}, []string{}, []column{}, map[string]string{"library": "servescope", "version": "1"}, "2.0.0"}
	for _, f := range t.Fields {
		switch f.Type {
		case trace.Int64:
			meta.Columns = append(meta.Columns, column{Name: f.Name, Field: f.Name, Pandas: "int64", Numpy: "Int64"})
		case trace.Bool:
			meta.Columns = append(meta.Columns, column{Name: f.Name, Field: f.Name, Pandas: "bool", Numpy: "boolean"})
		}
	}
	out, _ := json.Marshal(meta) // texts cannot fail
	return string(out)
}
