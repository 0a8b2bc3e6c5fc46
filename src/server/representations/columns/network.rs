//! Rows of networking resources.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cells::{
    AGE, Definition, NAME, RowContext, SELECTOR, count, first_few, labels, list, or_none, selector, text,
};

pub(super) const SERVICES: &[Definition] = &[
    NAME,
    ("Type", "string", 0),
    ("Cluster-IP", "string", 0),
    ("External-IP", "string", 0),
    ("Port(s)", "string", 0),
    AGE,
    SELECTOR,
];

pub(super) const ENDPOINTS: &[Definition] = &[NAME, ("Endpoints", "string", 0), AGE];

pub(super) const ENDPOINT_SLICES: &[Definition] =
    &[NAME, ("AddressType", "string", 0), ("Ports", "string", 0), ("Endpoints", "string", 0), AGE];

pub(super) const INGRESSES: &[Definition] = &[
    NAME,
    ("Class", "string", 0),
    ("Hosts", "string", 0),
    ("Address", "string", 0),
    ("Ports", "string", 0),
    AGE,
];

pub(super) const INGRESS_CLASSES: &[Definition] =
    &[NAME, ("Controller", "string", 0), ("Parameters", "string", 0), AGE];

pub(super) const NETWORK_POLICIES: &[Definition] = &[NAME, ("Pod-Selector", "string", 0), AGE];

pub(super) fn service(object: &Value, row: RowContext) -> Vec<Value> {
    let spec = &object["spec"];
    let ports = list(&spec["ports"]).iter().map(|port| {
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        match count(&port["nodePort"]) {
            0 => format!("{}/{protocol}", port["port"]),
            node => format!("{}:{node}/{protocol}", port["port"]),
        }
    });
    let ports: Vec<String> = ports.collect();
    vec![
        row.name,
        text(&spec["type"]).into(),
        or_none(text(&spec["clusterIP"])),
        external_address(object).into(),
        or_none(&ports.join(",")),
        row.age,
        labels(&spec["selector"]),
    ]
}

fn external_address(service: &Value) -> String {
    let spec = &service["spec"];
    let mut addresses: Vec<String> = balancer_addresses(&service["status"]).into_iter().collect();
    addresses.extend(list(&spec["externalIPs"]).iter().map(|address| text(address).to_owned()));
    match text(&spec["type"]) {
        "ExternalName" => text(&spec["externalName"]).to_owned(),
        "ClusterIP" | "NodePort" | "LoadBalancer" if !addresses.is_empty() => addresses.join(","),
        "ClusterIP" | "NodePort" => "<none>".to_owned(),
        "LoadBalancer" => "<pending>".to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

fn balancer_addresses(status: &Value) -> BTreeSet<String> {
    let ingress = list(&status["loadBalancer"]["ingress"]).iter();
    let addresses = ingress.map(|one| match text(&one["ip"]) {
        "" => text(&one["hostname"]),
        ip => ip,
    });
    addresses.filter(|address| !address.is_empty()).map(str::to_owned).collect()
}

pub(super) fn endpoints(object: &Value, row: RowContext) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in list(&object["subsets"]) {
        let addresses = || list(&subset["addresses"]).iter().map(|address| text(&address["ip"]));
        let ports = list(&subset["ports"]);
        if ports.is_empty() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in ports {
            all.extend(addresses().map(|address| format!("{address}:{}", port["port"])));
        }
    }
    let none = if list(&object["subsets"]).is_empty() { "<none>" } else { "" };
    vec![row.name, first_few(&all, ",", none), row.age]
}

pub(super) fn endpoint_slice(object: &Value, row: RowContext) -> Vec<Value> {
    let ports =
        list(&object["ports"]).iter().map(|port| match (port["port"].as_u64(), port["name"].as_str()) {
            (Some(port), _) => port.to_string(),
            (None, Some(name)) => name.to_owned(),
            (None, None) => "*".to_owned(),
        });
    let addresses = list(&object["endpoints"]).iter().flat_map(|endpoint| list(&endpoint["addresses"]));
    let addresses: Vec<String> = addresses.map(|address| text(address).to_owned()).collect();
    vec![
        row.name,
        text(&object["addressType"]).into(),
        first_few(&ports.collect::<Vec<_>>(), ",", "<unset>"),
        first_few(&addresses, ",", "<unset>"),
        row.age,
    ]
}

pub(super) fn ingress(object: &Value, row: RowContext) -> Vec<Value> {
    let spec = &object["spec"];
    let hosts = list(&spec["rules"]).iter().map(|rule| text(&rule["host"])).filter(|host| !host.is_empty());
    let hosts: Vec<String> = hosts.map(str::to_owned).collect();
    let addresses: Vec<String> = balancer_addresses(&object["status"]).into_iter().collect();
    vec![
        row.name,
        spec["ingressClassName"].as_str().unwrap_or("<none>").into(),
        first_few(&hosts, ",", "*"),
        addresses.join(",").into(),
        if list(&spec["tls"]).is_empty() { "80".into() } else { "80, 443".into() },
        row.age,
    ]
}

pub(super) fn ingress_class(object: &Value, row: RowContext) -> Vec<Value> {
    let annotations = &object["metadata"]["annotations"];
    let is_default = annotations["ingressclass.kubernetes.io/is-default-class"] == "true";
    let name = if is_default { format!("{} (default)", text(&row.name)).into() } else { row.name };
    let parameters = match &object["spec"]["parameters"] {
        Value::Object(own) => {
            let group = own
                .get("apiGroup")
                .and_then(Value::as_str)
                .map_or(String::new(), |group| format!(".{group}"));
            format!("{}{group}/{}", text(&own["kind"]), text(&own["name"]))
        }
        _ => "<none>".to_owned(),
    };
    vec![name, text(&object["spec"]["controller"]).into(), parameters.into(), row.age]
}

pub(super) fn network_policy(object: &Value, row: RowContext) -> Vec<Value> {
    vec![row.name, or_none(&selector(&object["spec"]["podSelector"])), row.age]
}
