package bridge

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// queryOf reads the part of a request that is a query.
func queryOf(m message) (*query.Query, error) {
	q, err := query.Parse(m.text)
	if err != nil {
		return nil, err
	}
	if _, err := metric.LookupDefinition(q.Definition); err != nil {
		return nil, &query.Error{Flag: "--definition", Msg: err.Error()}
	}
	return q, nil
}
