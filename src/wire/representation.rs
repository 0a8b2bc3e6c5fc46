//! What form of its objects is asked of a server.

/// The form of the objects of a list or a watch. Ask for no more than the question needs: it decides what the server
/// has to do and how many bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Representation {
    /// Whole objects.
    #[default]
    Objects,
    /// Their metadata only (`PartialObjectMetadata`), under the kind of the resource.
    Metadata,
    /// Their names, and no more than comes with them: a list may know no namespace and no version of an object.
    Names,
    /// The server's own columns and cells, with so much of the object beside each row.
    Table(IncludeObject),
    /// The server's own columns and cells, and whose they are: as little as comes with them where the namespace is asked
    /// for, namespaces and versions where it is not.
    Rows,
}

/// What comes beside a row of a Table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IncludeObject {
    /// Nothing: the row's object has the name in its cells, the namespace that was asked for, and no version in a list.
    None,
    /// The object's metadata, as a server does by itself.
    #[default]
    Metadata,
    /// The whole object.
    Object,
}

impl Representation {
    /// What to ask where the least is not enough.
    pub(crate) fn whole(self) -> Self {
        match self {
            Self::Names => Self::Metadata,
            Self::Rows => Self::Table(IncludeObject::Metadata),
            other => other,
        }
    }

    /// The `Accept` header, as kubectl sends it, with plain objects as the last choice: a server that knows no Tables
    /// answers with those, and says so by its answer only. Metadata is asked for in Protocol Buffers first, which a
    /// server writes in a third of the time; so it is not where managedFields are wanted, which are not read of those.
    pub(crate) fn accept(self, of: Asked, managed_fields: bool) -> &'static str {
        match (self, of) {
            (Self::Objects, _) => "application/json",
            (Self::Metadata | Self::Names, Asked::List) if !managed_fields => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Metadata | Self::Names, Asked::Watch) if !managed_fields => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Metadata | Self::Names, Asked::List) => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Metadata | Self::Names, Asked::Watch | Asked::One) => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Table(_) | Self::Rows, _) => {
                "application/json;as=Table;v=v1;g=meta.k8s.io,\
                 application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
            }
        }
    }

    /// The value of the query parameter `includeObject`, where it differs from what a server does by itself.
    pub(crate) fn include_object(self) -> Option<&'static str> {
        match self {
            Self::Table(IncludeObject::None) => Some("None"),
            Self::Table(IncludeObject::Object) => Some("Object"),
            Self::Objects
            | Self::Metadata
            | Self::Names
            | Self::Rows
            | Self::Table(IncludeObject::Metadata) => None,
        }
    }
}

/// What is asked for in a representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A list of objects.
    List,
    /// A stream of events, each with one object.
    Watch,
    /// One object by its name.
    One,
}
