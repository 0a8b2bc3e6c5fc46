//! The representation of objects that is requested from a server.

/// The form of the objects of a list or a watch. Request no more than needed: the form determines the server's work
/// and the number of bytes sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Representation {
    /// Complete objects.
    #[default]
    Objects,
    /// Their metadata only (`PartialObjectMetadata`), under the kind of the resource.
    Metadata,
    /// Their names and whatever comes with them: the namespaces and versions of a list's objects may be unknown.
    Names,
    /// The server's own columns and cells, with this part of the object in each row.
    Table(IncludeObject),
    /// The server's own columns and cells, and the identity of their objects: as little as possible within one
    /// namespace, namespaces and versions otherwise.
    Rows,
    /// The server's own columns and cells, and the complete objects, in two lists where that is faster. Other than with
    /// [`IncludeObject::Object`], a large collection is requested as a whole.
    RowsAndObjects,
}

/// The part of the object in a row of a Table. The variants but one are the values of `includeObject`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IncludeObject {
    /// None: the row's object has the name from its cells, the requested namespace, and no version in a list.
    None,
    /// The object's metadata, the default of servers.
    #[default]
    Metadata,
    /// The complete object.
    Object,
    /// The object's names and version, which only a server of this library knows.
    Identity,
}

impl Representation {
    /// Returns the representation of a single request that has the same contents: the smaller forms of a list depend on
    /// other requests.
    pub(crate) fn for_single_request(self) -> Self {
        match self {
            Self::Names => Self::Metadata,
            Self::Rows => Self::Table(IncludeObject::Metadata),
            Self::RowsAndObjects => Self::Table(IncludeObject::Object),
            other => other,
        }
    }

    /// Returns the `Accept` header that kubectl sends, with plain objects as the last choice: a server without Tables
    /// responds with those, and shows it only in its response. Metadata is requested in Protocol Buffers first, which
    /// a server writes in a third of the time, except when managedFields are needed, which are not decoded from
    /// those.
    pub(crate) fn accept(self, of: RequestKind, managed_fields: bool) -> &'static str {
        match (self, of) {
            (Self::Objects, _) => "application/json",
            (Self::Metadata | Self::Names, RequestKind::List) if !managed_fields => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Metadata | Self::Names, RequestKind::Watch) if !managed_fields => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Metadata | Self::Names, RequestKind::List) => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Metadata | Self::Names, RequestKind::Watch | RequestKind::One) => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Table(_) | Self::Rows | Self::RowsAndObjects, _) => {
                "application/json;as=Table;v=v1;g=meta.k8s.io,\
                 application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
            }
        }
    }

    /// Returns the value of the query parameter `includeObject`, if it differs from the server's default.
    pub(crate) fn include_object(self) -> Option<&'static str> {
        match self {
            Self::Table(IncludeObject::None) => Some("None"),
            Self::Table(IncludeObject::Object) | Self::RowsAndObjects => Some("Object"),
            Self::Table(IncludeObject::Identity) => Some("Identity"),
            Self::Objects
            | Self::Metadata
            | Self::Names
            | Self::Rows
            | Self::Table(IncludeObject::Metadata) => None,
        }
    }
}

/// The kind of request for a representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A list of objects.
    List,
    /// A stream of events, each with one object.
    Watch,
    /// One object by its name.
    One,
}
