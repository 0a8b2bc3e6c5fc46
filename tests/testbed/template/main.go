// Command template executes templates as the printer of kubectl does. It reads JSON lines from its standard input and
// prints one JSON line for each.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"text/template"

	decoder "k8s.io/apimachinery/pkg/util/json"
)

// request is a template and the object that it is executed on.
type request struct {
	Template     string          `json:"template"`
	Value        json.RawMessage `json:"value"`
	AllowMissing bool            `json:"allowMissing"`
}

// response has the bytes that kubectl prints, in base64, and its error, or an empty string.
type response struct {
	Output []byte `json:"output"`
	Error  string `json:"error"`
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	buffered := bufio.NewWriter(out)
	requests, responses := json.NewDecoder(in), json.NewEncoder(buffered)
	for {
		var next request
		if err := requests.Decode(&next); err == io.EOF {
			return buffered.Flush()
		} else if err != nil {
			return err
		}
		if err := responses.Encode(respond(next)); err != nil {
			return err
		}
	}
}

func respond(request request) response {
	var printed bytes.Buffer
	if err := printObject(request, &printed); err != nil {
		return response{Output: printed.Bytes(), Error: err.Error()}
	}
	return response{Output: printed.Bytes()}
}

func printObject(request request, out io.Writer) error {
	parsed, err := template.New("output").
		Funcs(template.FuncMap{"exists": exists, "base64decode": base64decode}).
		Parse(request.Template)
	if err != nil {
		return fmt.Errorf("error parsing template %s, %v", request.Template, err)
	}
	missing := "missingkey=error"
	if request.AllowMissing {
		missing = "missingkey=default"
	}
	parsed.Option(missing)

	// kubectl decodes the response, encodes the object and decodes it again.
	decoded := map[string]interface{}{}
	if err := decoder.Unmarshal(request.Value, &decoded); err != nil {
		return err
	}
	data, err := json.Marshal(decoded)
	if err != nil {
		return err
	}
	object := map[string]interface{}{}
	if err := decoder.Unmarshal(data, &object); err != nil {
		return err
	}
	if err := execute(parsed, out, object); err != nil {
		fmt.Fprintf(out, "Error executing template: %v. Printing more information for debugging the template:\n", err)
		fmt.Fprintf(out, "\ttemplate was:\n\t\t%v\n", request.Template)
		fmt.Fprintf(out, "\traw data was:\n\t\t%v\n", string(data))
		fmt.Fprintf(out, "\tobject given to template engine was:\n\t\t%+v\n\n", object)
		return fmt.Errorf("error executing template %q: %v", request.Template, err)
	}
	return nil
}

func execute(parsed *template.Template, out io.Writer, object interface{}) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("caught panic: %+v", cause)
		}
	}()
	return parsed.Execute(out, object)
}

// exists reports whether the function index would find a value that is not nil.
func exists(item interface{}, keys ...interface{}) bool {
	value := reflect.ValueOf(item)
	for _, key := range keys {
		index := reflect.ValueOf(key)
		if value.IsValid() && value.Kind() == reflect.Interface {
			value = value.Elem()
		}
		switch value.Kind() {
		case reflect.Slice, reflect.String:
			var at int64
			switch {
			case index.CanInt():
				at = index.Int()
			case index.CanUint():
				at = int64(index.Uint())
			default:
				return false
			}
			if at < 0 || at >= int64(value.Len()) {
				return false
			}
			value = value.Index(int(at))
		case reflect.Map:
			if !index.IsValid() {
				index = reflect.ValueOf("")
			}
			if index.Kind() != reflect.String {
				return false
			}
			if value = value.MapIndex(index); !value.IsValid() {
				return false
			}
		default:
			return false
		}
	}
	return !value.IsValid() || value.Kind() != reflect.Interface || !value.IsNil()
}

func base64decode(text string) (string, error) {
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("base64 decode failed: %v", err)
	}
	return string(decoded), nil
}
